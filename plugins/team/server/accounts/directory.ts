/** People, their machines, and spaces. */
import { randomInt } from "node:crypto";
import { type Database, isoAt, SessarcError, type Statement } from "sessarc";
import { readScopes, type Scope, type Space } from "./caller.ts";

export interface Person {
  id: string;
  name: string;
  createdAt: string;
  spaces: number[];
}

export interface Device {
  id: string;
  person: string;
  machine: string;
  name: string;
  scopes: Scope[];
  createdAt: string;
  seenAt: string | null;
  revokedAt: string | null;
}

export type Directory = ReturnType<typeof createDirectory>;

const isoOrNull = (ms: number | null) => (ms === null ? null : isoAt(ms));

export function createDirectory(db: Database, tenant: number) {
  const self = {
    async people(): Promise<Person[]> {
      const rows = await db.all<{ id: string; name: string; created_at: number }>(
        "select id, name, created_at from team_person where tenant = ? and removed_at is null order by created_at, id",
        [tenant],
      );
      const members = await db.all<{ space: number; person: string }>(
        "select space, person from team_space_person where tenant = ? order by space",
        [tenant],
      );
      return rows.map(({ id, name, created_at }) => ({
        id,
        name,
        createdAt: isoAt(created_at),
        spaces: members.flatMap(({ space, person }) => (person === id ? space : [])),
      }));
    },

    /** Names of all people, those who were removed too: their sessions stay in shared spaces. */
    async names(): Promise<Map<string, string>> {
      const rows = await db.all<{ id: string; name: string }>("select id, name from team_person where tenant = ?", [
        tenant,
      ]);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    /** Machines of a person, or of all. */
    async devices(person: string | null): Promise<Device[]> {
      const rows = await db.all<{
        id: string;
        person: string;
        machine: string;
        name: string;
        scopes: string;
        created_at: number;
        seen_at: number | null;
        revoked_at: number | null;
      }>(
        `select id, person, machine, name, scopes, created_at, seen_at, revoked_at from team_device
         where tenant = ? and (cast(? as text) is null or person = ?) order by created_at, id`,
        [tenant, person, person],
      );
      return rows.map(({ created_at, seen_at, revoked_at, scopes, ...row }) => ({
        ...row,
        scopes: readScopes(scopes),
        createdAt: isoAt(created_at),
        seenAt: isoOrNull(seen_at),
        revokedAt: isoOrNull(revoked_at),
      }));
    },

    /** Spaces that a person may read. */
    async spacesOf(person: string): Promise<Space[]> {
      const rows = await db.all<{ id: number; name: string; kind: Space["kind"]; mine: number }>(
        `select s.id, s.name, s.kind, m.mine from team_space_person m join team_space s on s.tenant = m.tenant and s.id = m.space
         where m.tenant = ? and m.person = ? order by s.created_at, s.id`,
        [tenant, person],
      );
      return rows.map((row) => ({ ...row, mine: row.mine === 1 }));
    },

    async spaces(): Promise<{ id: number; name: string; kind: Space["kind"]; people: string[] }[]> {
      const rows = await db.all<{ id: number; name: string; kind: Space["kind"] }>(
        "select id, name, kind from team_space where tenant = ? order by created_at, id",
        [tenant],
      );
      const members = await db.all<{ space: number; person: string }>(
        "select space, person from team_space_person where tenant = ? order by person",
        [tenant],
      );
      return rows.map((row) => ({
        ...row,
        people: members.flatMap(({ space, person }) => (space === row.id ? person : [])),
      }));
    },

    async createSpace(name: string, kind: "team" | "project", people: readonly string[]): Promise<number> {
      await self.checkPeople(people);
      const id = newSpaceId();
      await db.batch([
        spaceRow(tenant, id, name, kind),
        ...people.map((person) => memberRow(tenant, id, person, false)),
      ]);
      return id;
    },

    /** The team's space. Of nodes that start on an empty database at the same time, one creates it. */
    async teamSpace(): Promise<number> {
      const find = () =>
        db.get<{ id: number }>("select id from team_space where tenant = ? and kind = 'team' order by created_at, id", [
          tenant,
        ]);
      const known = await find();
      if (known) return known.id;
      const id = newSpaceId();
      const name = "team-space";
      // The setting has a unique key, so a second node waits for the first one, and then finds another id in it.
      await db.batch([
        [
          "insert into team_setting (tenant, name, value) values (?, ?, ?) on conflict do nothing",
          [tenant, name, String(id)],
        ],
        [
          `insert into team_space (tenant, id, name, kind, created_at)
           select tenant, ?, 'Team', 'team', ? from team_setting where tenant = ? and name = ? and value = ?`,
          [id, Date.now(), tenant, name, String(id)],
        ],
      ]);
      const created = await find();
      if (!created) throw new Error("the team's space is missing");
      return created.id;
    },

    /** Adds people to a space. A private space has one person for ever. */
    async addToSpace(id: number, people: readonly string[]): Promise<void> {
      await self.checkPeople(people);
      await self.checkShared(id);
      await db.batch(people.map((person) => memberRow(tenant, id, person, false)));
    },

    async removeFromSpace(id: number, person: string): Promise<void> {
      await self.checkShared(id);
      await db.run("delete from team_space_person where tenant = ? and space = ? and person = ?", [tenant, id, person]);
    },

    async checkShared(id: number): Promise<void> {
      const row = await db.get<{ kind: string }>("select kind from team_space where tenant = ? and id = ?", [
        tenant,
        id,
      ]);
      if (!row || row.kind === "private")
        throw new SessarcError("TEAM_NOT_FOUND", { what: "shared space", id: String(id) });
    },

    async checkPeople(people: readonly string[]): Promise<void> {
      for (const id of people) {
        const row = await db.get("select 1 from team_person where tenant = ? and id = ? and removed_at is null", [
          tenant,
          id,
        ]);
        if (!row) throw new SessarcError("TEAM_NOT_FOUND", { what: "person", id });
      }
    },
  };
  return self;
}

/** Drawn, not counted up: people who join at the same moment would get the same one. */
export const newSpaceId = (): number => randomInt(1, 2 ** 31);

export const spaceRow = (tenant: number, id: number, name: string, kind: Space["kind"]): Statement => [
  "insert into team_space (tenant, id, name, kind, created_at) values (?, ?, ?, ?, ?)",
  [tenant, id, name, kind, Date.now()],
];

export const memberRow = (tenant: number, space: number, person: string, mine: boolean): Statement => [
  "insert into team_space_person (tenant, space, person, mine) values (?, ?, ?, ?) on conflict do nothing",
  [tenant, space, person, mine ? 1 : 0],
];
