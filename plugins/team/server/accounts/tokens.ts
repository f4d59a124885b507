/** Short tokens of machines, sign-ins of browsers, and read tokens. Stored as hashes; revoking a machine deletes all that belong to it. */
import { type Database, isoAt, isSessarcError, SessarcError } from "sessarc";
import { isSigned } from "../../keys.ts";
import { type Caller, readScopes, type Scope } from "./caller.ts";
import type { Directory } from "./directory.ts";
import { newId, newSecret, toHash, tokenText } from "./secrets.ts";

const TOKEN_MS = 10 * 60_000;
const TICKET_MS = 60_000;
const DAY_MS = 86_400_000;
const SESSION_MS = 12 * 3_600_000;
/** How much the clocks of a machine and of the server may differ. */
const SKEW_MS = 5 * 60_000;

export interface Issued {
  token: string;
  expires: string;
}

interface TokenRequest {
  device: string;
  at: string;
  nonce: string;
  signature: string;
}

/** `read`: for a program that reads for months, such as an MCP client. */
type Kind = "device" | "session" | "ticket" | "read";

const PROOFS = { device: "machine", session: "browser", read: "token" } as const;
/** A full database does not keep anybody from reading. */
const unlessFull = (error: unknown): void => {
  if (!isSessarcError(error) || error.code !== "STORAGE_FULL") throw error;
};

/** How exactly the last use is noted. */
const USED_MS = 60_000;

export interface ReadToken {
  id: string;
  name: string;
  person: { id: string; name: string };
  /** The machine that made it. */
  device: string;
  createdAt: string;
  expiresAt: string;
  usedAt: string | null;
}

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens(db: Database, tenant: number, directory: Directory) {
  async function issue(
    kind: Kind,
    device: string,
    scopes: readonly Scope[],
    ms: number,
    shown?: { id: string; name: string },
  ): Promise<Issued> {
    const [token, now] = [newSecret(), Date.now()];
    await db.run(
      "insert into team_token (tenant, hash, kind, device, scopes, created_at, expires_at, id, name) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        ...[tenant, toHash(token), kind, device, scopes.join(","), now, now + ms],
        ...[shown?.id ?? null, shown?.name ?? null],
      ],
    );
    return { token, expires: new Date(now + ms).toISOString() };
  }

  return {
    /**
     * A token for a request that the machine's key signed. TEAM_MACHINE_REVOKED is only for the holder of the key; every other failure is
     * TEAM_SIGNATURE_INVALID, whatever its reason.
     */
    async forSignature({ device, at, nonce, signature }: TokenRequest, addresses: readonly string[]): Promise<Issued> {
      const refused = () => new SessarcError("TEAM_SIGNATURE_INVALID", {});
      const row = await db.get<{ public_key: string; scopes: string; revoked_at: number | null }>(
        "select public_key, scopes, revoked_at from team_device where tenant = ? and id = ?",
        [tenant, device],
      );
      const now = Date.now();
      const late = Math.abs(now - Date.parse(at));
      if (!row || !(late <= SKEW_MS)) throw refused();
      if (!addresses.some((address) => isSigned(row.public_key, tokenText(address, device, at, nonce), signature)))
        throw refused();
      if (row.revoked_at !== null) throw new SessarcError("TEAM_MACHINE_REVOKED", {});
      // After the signature: only the machine itself can use its nonces up.
      const { changes } = await db.run(
        "insert into team_nonce (tenant, device, nonce, expires_at) values (?, ?, ?, ?) on conflict do nothing",
        [tenant, device, nonce, now + 2 * SKEW_MS],
      );
      if (changes === 0) throw refused();
      await db.run("update team_device set seen_at = ? where tenant = ? and id = ?", [now, tenant, device]);
      return issue("device", device, readScopes(row.scopes), TOKEN_MS);
    },

    /** One-time ticket of a sign-in link: it opens the dashboard for reading, whatever else the machine may. */
    ticket: (caller: Caller): Promise<Issued> =>
      issue(
        "ticket",
        caller.device,
        caller.scopes.filter((scope) => scope !== "push"),
        TICKET_MS,
      ),

    /** Uses a ticket up. Undefined for one that is unknown, used or expired. */
    async redeem(ticket: string): Promise<Issued | undefined> {
      const given = [tenant, toHash(ticket), Date.now()];
      const which = "tenant = ? and hash = ? and kind = 'ticket' and expires_at > ?";
      const row = await db.get<{ device: string; scopes: string }>(
        `select device, scopes from team_token where ${which}`,
        given,
      );
      // Of two that use it at once, one deletes it.
      const { changes } = await db.run(`delete from team_token where ${which}`, given);
      if (!row || changes === 0) return undefined;
      return issue("session", row.device, readScopes(row.scopes), SESSION_MS);
    },

    /** A token that may only read, for `days` days. The answer has it, and nothing else does. */
    async forReading(caller: Caller, name: string, days: number): Promise<Issued & { id: string }> {
      const id = newId();
      return { id, ...(await issue("read", caller.device, ["read"], days * DAY_MS, { id, name })) };
    },

    /** Read tokens of a person, or of all, that have not expired. */
    async readTokens(person: string | null): Promise<ReadToken[]> {
      const rows = await db.all<{
        id: string;
        name: string;
        person: string;
        person_name: string;
        device: string;
        created_at: number;
        expires_at: number;
        used_at: number | null;
      }>(
        `select t.id, t.name, p.id as person, p.name as person_name, t.device, t.created_at, t.expires_at, t.used_at from team_token t
         join team_device d on d.tenant = t.tenant and d.id = t.device
         join team_person p on p.tenant = t.tenant and p.id = d.person
         where t.tenant = ? and t.kind = 'read' and t.expires_at > ? and (cast(? as text) is null or d.person = ?)
         order by t.created_at, t.id`,
        [tenant, Date.now(), person, person],
      );
      return rows.map(({ created_at, expires_at, used_at, person, person_name, ...row }) => ({
        ...row,
        person: { id: person, name: person_name },
        createdAt: isoAt(created_at),
        expiresAt: isoAt(expires_at),
        usedAt: used_at === null ? null : isoAt(used_at),
      }));
    },

    revokeReading: (id: string) =>
      db.run("delete from team_token where tenant = ? and kind = 'read' and id = ?", [tenant, id]),

    /** Who holds this token: a bearer's or a cookie's. Asked for each request, so that revoking works at once on every node. */
    async caller(carrier: "bearer" | "cookie", token: string): Promise<Caller | undefined> {
      const kinds = carrier === "bearer" ? ["device", "read"] : ["session", "session"];
      const now = Date.now();
      const row = await db.get<{
        kind: keyof typeof PROOFS;
        token: string | null;
        used_at: number | null;
        scopes: string;
        device: string;
        machine: string;
        person: string;
        name: string;
      }>(
        `select t.kind, t.id as token, t.used_at, t.scopes, d.id as device, d.machine, p.id as person, p.name
         from team_token t
         join team_device d on d.tenant = t.tenant and d.id = t.device and d.revoked_at is null
         join team_person p on p.tenant = t.tenant and p.id = d.person and p.removed_at is null
         where t.tenant = ? and t.hash = ? and t.kind in (?, ?) and t.expires_at > ?`,
        [tenant, toHash(token), ...kinds, now],
      );
      if (!row) return undefined;
      if (row.token !== null && (row.used_at ?? 0) < now - USED_MS)
        await db
          .run("update team_token set used_at = ? where tenant = ? and hash = ?", [now, tenant, toHash(token)])
          .catch(unlessFull);
      return {
        tenant,
        proof: PROOFS[row.kind],
        person: { id: row.person, name: row.name },
        device: row.token ?? row.device,
        machine: row.machine,
        scopes: readScopes(row.scopes),
        spaces: await directory.spacesOf(row.person),
      };
    },

    async end(token: string): Promise<void> {
      await db.run("delete from team_token where tenant = ? and hash = ?", [tenant, toHash(token)]);
    },

    async prune(): Promise<void> {
      await db.batch([
        ["delete from team_token where tenant = ? and expires_at < ?", [tenant, Date.now()]],
        ["delete from team_nonce where tenant = ? and expires_at < ?", [tenant, Date.now()]],
      ]);
    },
  };
}
