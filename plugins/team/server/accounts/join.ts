/** Invitations: the only way into a team. Each works once and expires. */
import { type Database, isoAt, SessarcError, type Statement } from "sessarc";
import { readScopes, type Scope, type Space } from "./caller.ts";
import { type Directory, memberRow, newSpaceId, spaceRow } from "./directory.ts";
import { checkPublicKey, newId, newSecret, toHash } from "./secrets.ts";

const DAY_MS = 86_400_000;

interface InviteOptions {
  scopes: readonly Scope[];
  /** Shared spaces that the new person may read and push to. */
  spaces: readonly number[];
  /** A person that is there already: the invitation is for another machine of theirs. */
  person: string | null;
  days: number;
}

export interface Invite {
  id: string;
  scopes: Scope[];
  spaces: number[];
  person: string | null;
  madeBy: string | null;
  createdAt: string;
  expiresAt: string;
  usedAt: string | null;
  revokedAt: string | null;
}

export interface Joined {
  person: { id: string; name: string };
  device: string;
  machine: string;
  scopes: Scope[];
  spaces: Space[];
}

interface Row {
  id: string;
  person: string | null;
  scopes: string;
  spaces: string;
  made_by: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
}

export type Invitations = ReturnType<typeof createInvitations>;

export function createInvitations(db: Database, tenant: number, directory: Directory) {
  const self = {
    /** The code is in the answer and nowhere else. */
    async create(
      options: InviteOptions,
      maker: { person: string; device: string } | null,
    ): Promise<{ id: string; code: string; expiresAt: string }> {
      if (options.person !== null) await directory.checkPeople([options.person]);
      for (const space of options.spaces) await directory.checkShared(space);
      const [id, code, now] = [newId(), newSecret(), Date.now()];
      const expires = now + options.days * DAY_MS;
      await db.run(
        `insert into team_invite (tenant, id, code, person, scopes, spaces, made_by, device, created_at, expires_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          tenant,
          id,
          toHash(code),
          options.person,
          options.scopes.join(","),
          JSON.stringify(options.spaces),
          maker?.person ?? null,
          maker?.device ?? null,
          now,
          expires,
        ],
      );
      return { id, code, expiresAt: new Date(expires).toISOString() };
    },

    async list(): Promise<Invite[]> {
      const rows = await db.all<Row>(
        `select id, person, scopes, spaces, made_by, created_at, expires_at, used_at, revoked_at from team_invite
         where tenant = ? order by created_at desc, id limit 500`,
        [tenant],
      );
      return rows.map((row) => ({
        id: row.id,
        person: row.person,
        scopes: readScopes(row.scopes),
        spaces: JSON.parse(row.spaces) as number[],
        madeBy: row.made_by,
        createdAt: isoAt(row.created_at),
        expiresAt: isoAt(row.expires_at),
        usedAt: row.used_at === null ? null : isoAt(row.used_at),
        revokedAt: row.revoked_at === null ? null : isoAt(row.revoked_at),
      }));
    },

    /** Throws TEAM_NOT_FOUND for one that is unknown, used or revoked. */
    async revoke(id: string): Promise<void> {
      const { changes } = await db.run(
        "update team_invite set revoked_at = ? where tenant = ? and id = ? and used_at is null and revoked_at is null",
        [Date.now(), tenant, id],
      );
      if (changes === 0) throw new SessarcError("TEAM_NOT_FOUND", { what: "open invitation", id });
    },

    /** Uses an invitation up: a person with a private space, or another machine of one. Throws TEAM_INVITE_INVALID, TEAM_KEY_INVALID, TEAM_KEY_KNOWN. */
    async join(code: string, name: string, machineName: string, publicKey: string): Promise<Joined> {
      checkPublicKey(publicKey);
      if (await db.get("select 1 from team_device where tenant = ? and public_key = ?", [tenant, publicKey]))
        throw new SessarcError("TEAM_KEY_KNOWN", {});
      const now = Date.now();
      const [device, machine] = [newId(), newId(4)];
      // One statement: if two requests use an invitation at the same time, one of them finds it used. The server's own invitations, one for each start
      // before the first join, are all used up by the first one.
      const { changes } = await db.run(
        `update team_invite set used_at = ?, used_by = ?
         where tenant = ? and used_at is null and revoked_at is null and expires_at > ?
           and (made_by is not null or not exists (select 1 from team_device where tenant = ?))
           and (device is null or exists (
             select 1 from team_device d where d.tenant = team_invite.tenant and d.id = team_invite.device and d.revoked_at is null))
           and (person is null or exists (
             select 1 from team_person p where p.tenant = team_invite.tenant and p.id = team_invite.person and p.removed_at is null))
           and (code = ? or made_by is null and exists (
             select 1 from team_invite mine
             where mine.tenant = ? and mine.code = ? and mine.made_by is null and mine.revoked_at is null and mine.expires_at > ?))`,
        [now, device, tenant, now, tenant, toHash(code), tenant, toHash(code), now],
      );
      if (changes === 0) throw new SessarcError("TEAM_INVITE_INVALID", {});
      const invite = await db.get<{ person: string | null; scopes: string; spaces: string }>(
        "select person, scopes, spaces from team_invite where tenant = ? and used_by = ? and code = ?",
        [tenant, device, toHash(code)],
      );
      if (!invite) throw new SessarcError("TEAM_INVITE_INVALID", {});
      const person = invite.person ?? newId(6);
      const write: Statement[] = [];
      if (invite.person === null) {
        const space = newSpaceId();
        write.push(
          ["insert into team_person (tenant, id, name, created_at) values (?, ?, ?, ?)", [tenant, person, name, now]],
          spaceRow(tenant, space, name, "private"),
          memberRow(tenant, space, person, true),
          ...(JSON.parse(invite.spaces) as number[]).map((id) => memberRow(tenant, id, person, false)),
        );
      }
      write.push([
        `insert into team_device (tenant, id, person, machine, name, public_key, scopes, created_at)
         values (?, ?, ?, ?, ?, ?, ?, ?)`,
        [tenant, device, person, machine, machineName, publicKey, invite.scopes, now],
      ]);
      await db.batch(write).catch(async (error: unknown) => {
        // Nothing was stored, so the invitation is good again.
        await db.run("update team_invite set used_at = null, used_by = null where tenant = ? and used_by = ?", [
          tenant,
          device,
        ]);
        throw error;
      });
      const known = await db.get<{ name: string }>("select name from team_person where tenant = ? and id = ?", [
        tenant,
        person,
      ]);
      return {
        person: { id: person, name: known?.name ?? name },
        device,
        machine,
        scopes: readScopes(invite.scopes),
        spaces: await directory.spacesOf(person),
      };
    },

    /**
     * Before the first join: the team's space, and an invitation for its owner. Each start makes another one, and all of them work until a machine
     * joins. Undefined once a machine has joined.
     */
    async first(): Promise<string | undefined> {
      const space = await directory.teamSpace();
      if (await db.get("select 1 from team_device where tenant = ? limit 1", [tenant])) return undefined;
      return (await self.create({ scopes: ["push", "read", "own"], spaces: [space], person: null, days: 7 }, null))
        .code;
    },
  };
  return self;
}
