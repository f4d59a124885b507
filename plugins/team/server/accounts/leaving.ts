/** Ending access: of a machine, and of a person. What they pushed stays, but for a private space that the owner wants deleted. */
import { type Database, marks, SessarcError, type Statement } from "sessarc";
import { type Directory, memberRow } from "./directory.ts";

export interface Machine {
  id: string;
  name: string;
  person: string;
}

/** What was ended. */
export interface Ended {
  machines: Machine[];
  /** Ids of invitations that were not used. */
  invitations: string[];
  /** Ids of read tokens. */
  tokens: string[];
}

export type Leaving = ReturnType<typeof createLeaving>;

export function createLeaving(db: Database, tenant: number, directory: Directory) {
  const machines = (where: string, values: readonly (string | number)[]): Promise<Machine[]> =>
    db.all<Machine>(
      `select id, name, person from team_device where tenant = ? and revoked_at is null and ${where} order by created_at, id`,
      [tenant, ...values],
    );

  /** Machines that joined by invitations of these, and by theirs. */
  async function invitedBy(first: string): Promise<Machine[]> {
    const seen = new Set([first]);
    const found: Machine[] = [];
    for (let from = [first]; from.length > 0; ) {
      const used = await db.all<{ used_by: string }>(
        `select used_by from team_invite where tenant = ? and used_by is not null and device in (${marks(from)}) order by used_at, used_by`,
        [tenant, ...from],
      );
      from = used.flatMap(({ used_by }) => (seen.has(used_by) ? [] : used_by));
      for (const id of from) seen.add(id);
      if (from.length > 0) found.push(...(await machines(`id in (${marks(from)})`, from)));
    }
    return found;
  }

  /** Ends machines with all that they made. Throws TEAM_LAST_OWNER where no other machine would have the right `own`. */
  async function end(ids: readonly string[], more: readonly Statement[], invites: string, whose: readonly string[]) {
    const others = await machines(`scopes like '%own%' and id not in (${marks(ids)})`, ids);
    if (others.length === 0) throw new SessarcError("TEAM_LAST_OWNER", {});
    const open = `tenant = ? and used_at is null and revoked_at is null and (device in (${marks(ids)}) ${invites})`;
    const [ended, invitations, tokens] = [
      await machines(`id in (${marks(ids)})`, ids),
      await db.all<{ id: string }>(`select id from team_invite where ${open} order by id`, [tenant, ...ids, ...whose]),
      await db.all<{ id: string }>(
        `select id from team_token where tenant = ? and kind = 'read' and device in (${marks(ids)}) order by id`,
        [tenant, ...ids],
      ),
    ];
    const now = Date.now();
    await db.batch([
      [
        `update team_device set revoked_at = ? where tenant = ? and revoked_at is null and id in (${marks(ids)})`,
        [now, tenant, ...ids],
      ],
      // Sign-ins of browsers are among them.
      [`delete from team_token where tenant = ? and device in (${marks(ids)})`, [tenant, ...ids]],
      [`update team_invite set revoked_at = ? where ${open}`, [now, tenant, ...ids, ...whose]],
      ...more,
    ]);
    return { machines: ended, invitations: invitations.map(({ id }) => id), tokens: tokens.map(({ id }) => id) };
  }

  return {
    /**
     * Ends a machine's access at once, with its tokens, sign-ins and open invitations. `stolen`: also the machines of the same person that joined by
     * its invitations, but for the one that asks. `invited` are the other machines that joined by them.
     */
    async machine(
      id: string,
      asking: string,
      stolen: boolean,
    ): Promise<Ended & { invited: (Machine & { personName: string })[] }> {
      const [own] = await db.all<{ person: string }>("select person from team_device where tenant = ? and id = ?", [
        tenant,
        id,
      ]);
      const invited = (await invitedBy(id)).filter((machine) => machine.id !== asking);
      const isOwn = (machine: Machine) => stolen && machine.person === own?.person;
      const ended = await end([id, ...invited.filter(isOwn).map((machine) => machine.id)], [], "", []);
      const names = await directory.names();
      const others = invited.filter((machine) => !isOwn(machine));
      return {
        ...ended,
        invited: others.map((one) => ({ ...one, personName: names.get(one.person) ?? one.person })),
      };
    },

    /** Ends the access of a person with all machines, tokens, sign-ins and invitations, in every shared space. Throws TEAM_NOT_FOUND, TEAM_LAST_OWNER. */
    async person(id: string): Promise<Ended> {
      const known = await db.get<{ removed_at: number | null }>(
        "select removed_at from team_person where tenant = ? and id = ?",
        [tenant, id],
      );
      // One whose removal was interrupted still has the private space.
      const isThere = known && (known.removed_at === null || (await this.privateSpace(id)) !== undefined);
      if (!isThere) throw new SessarcError("TEAM_NOT_FOUND", { what: "person", id });
      const devices = await db.all<{ id: string }>("select id from team_device where tenant = ? and person = ?", [
        tenant,
        id,
      ]);
      const more: Statement[] = [
        [
          "update team_person set removed_at = ? where tenant = ? and id = ? and removed_at is null",
          [Date.now(), tenant, id],
        ],
        ["delete from team_space_person where tenant = ? and person = ? and mine = 0", [tenant, id]],
      ];
      return end(
        devices.map((device) => device.id),
        more,
        "or made_by = ? or person = ?",
        [id, id],
      );
    },

    /** Of a person; undefined where it was deleted or has another owner. */
    async privateSpace(person: string): Promise<number | undefined> {
      const row = await db.get<{ space: number }>(
        "select space from team_space_person where tenant = ? and person = ? and mine = 1",
        [tenant, person],
      );
      return row?.space;
    },

    /** Sessions of a space, with the machines that pushed them. */
    sessionsIn(space: number): Promise<{ session: string; person: string; machine: string }[]> {
      return db.all(
        "select session, person, machine from team_session where tenant = ? and space = ? order by session limit 500",
        [tenant, space],
      );
    },

    /** Another person reads the private space from now on instead of its own. */
    async give(space: number, from: string, to: string): Promise<void> {
      await db.batch([
        memberRow(tenant, space, to, false),
        ["delete from team_space_person where tenant = ? and space = ? and person = ?", [tenant, space, from]],
      ]);
    },

    async removeSpace(space: number): Promise<void> {
      await db.batch([
        ["delete from team_space_person where tenant = ? and space = ?", [tenant, space]],
        ["delete from team_space where tenant = ? and id = ?", [tenant, space]],
      ]);
    },
  };
}
