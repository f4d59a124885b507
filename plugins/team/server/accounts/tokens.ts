/** Short tokens of machines, and sign-ins of browsers. Stored as hashes; revoking a machine deletes all that belong to it. */
import { type Database, SessarcError } from "sessarc";
import { type Caller, readScopes, type Scope } from "./caller.ts";
import type { Directory } from "./directory.ts";
import { hashOf, isSigned, newSecret, tokenText } from "./secrets.ts";

const TOKEN_MS = 10 * 60_000;
const TICKET_MS = 60_000;
const SESSION_MS = 12 * 3_600_000;
/** How much the clocks of a machine and of the server may differ. */
const SKEW_MS = 5 * 60_000;

interface Issued {
  token: string;
  expires: string;
}

interface TokenRequest {
  device: string;
  at: string;
  nonce: string;
  signature: string;
}

type Kind = "device" | "session" | "ticket";

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens(db: Database, tenant: number, directory: Directory) {
  async function issue(kind: Kind, device: string, scopes: readonly Scope[], ms: number): Promise<Issued> {
    const [token, now] = [newSecret(), Date.now()];
    await db.run(
      "insert into team_token (tenant, hash, kind, device, scopes, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)",
      [tenant, hashOf(token), kind, device, scopes.join(","), now, now + ms],
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
      const given = [tenant, hashOf(ticket), Date.now()];
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

    /** Who holds this token. Asked for each request, so that revoking works at once on every node. */
    async caller(kind: Exclude<Kind, "ticket">, token: string): Promise<Caller | undefined> {
      const row = await db.get<{
        scopes: string;
        device: string;
        machine: string;
        machine_name: string;
        person: string;
        name: string;
      }>(
        `select t.scopes, d.id as device, d.machine, d.name as machine_name, p.id as person, p.name
         from team_token t
         join team_device d on d.tenant = t.tenant and d.id = t.device and d.revoked_at is null
         join team_person p on p.tenant = t.tenant and p.id = d.person and p.removed_at is null
         where t.tenant = ? and t.hash = ? and t.kind = ? and t.expires_at > ?`,
        [tenant, hashOf(token), kind, Date.now()],
      );
      if (!row) return undefined;
      return {
        tenant,
        person: { id: row.person, name: row.name },
        device: row.device,
        machine: row.machine,
        machineName: row.machine_name,
        scopes: readScopes(row.scopes),
        spaces: await directory.spacesOf(row.person),
      };
    },

    async end(token: string): Promise<void> {
      await db.run("delete from team_token where tenant = ? and hash = ?", [tenant, hashOf(token)]);
    },

    async prune(): Promise<void> {
      await db.batch([
        ["delete from team_token where tenant = ? and expires_at < ?", [tenant, Date.now()]],
        ["delete from team_nonce where tenant = ? and expires_at < ?", [tenant, Date.now()]],
      ]);
    },
  };
}
