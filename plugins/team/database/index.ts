/** Opens the database of a team: PostgreSQL, or PGlite in a folder. */
import { SessarcError } from "sessarc";
import { stepDigest } from "sessarc/storage";
import type { Principal, TeamDatabase, TeamDatabaseOptions, TeamWriter } from "../types.ts";
import { translateStep } from "./ddl.ts";
import { type Connection, openEngine } from "./engine.ts";
import { failed } from "./failures.ts";
import { install, SCHEMA_LOCK, SEARCH_PATH } from "./install.ts";
import { readSchema } from "./schema.ts";
import { createSeen } from "./seen.ts";
import { createTurns } from "./turns.ts";
import { createView, type Source, type View } from "./view.ts";

/** Time between two tries to get the tenant's lock. */
const TRY_MS = 100;
/** Changed sessions named at most; who is further behind reads all again. */
const MOST_CHANGES = 1_000;

/**
 * Opens the database and brings what it needs up to date: schema, roles, functions. Throws TEAM_DRIVER_MISSING, TEAM_DATABASE_UNREACHABLE,
 * TEAM_ROLES_MISSING.
 */
export async function openTeamDatabase({ database }: TeamDatabaseOptions): Promise<TeamDatabase> {
  const engine = await openEngine(database);
  /** Runs alone among all nodes, in one transaction. */
  const alone = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await engine.connect();
    try {
      await connection.execute(`begin; ${SEARCH_PATH.replace("set ", "set local ")}`);
      await connection.query(`select pg_advisory_xact_lock(${SCHEMA_LOCK})`, []);
      const answer = await work(connection);
      await connection.execute("commit");
      connection.release();
      return answer;
    } catch (error) {
      const undone = await connection.execute("rollback").then(
        () => true,
        () => false,
      );
      connection.release(!undone);
      throw error;
    }
  };
  let schema = await alone(async (connection) => {
    await install(connection);
    return readSchema(connection);
  }).catch(async (error) => {
    await engine.close();
    return failed("the schema", "")(error);
  });
  const source: Source = { engine, schema: () => schema };
  const owner = createView(source, { viewer: {} });
  const turns = createTurns();
  /** The tenant's generation as last read, so that a view of a member can answer it at once. */
  const generations = new Map<number, number>();

  /** Writers that are not released yet: closing the database ends them. */
  const held = new Set<() => Promise<void>>();
  const hold = (db: View, free: () => Promise<void>): TeamWriter => {
    const release = async () => {
      if (!held.delete(release)) return;
      await db.close();
      await free();
    };
    held.add(release);
    return { db, release };
  };

  const generation = async (tenant: number): Promise<number> => {
    const row = await owner.get<{ generation: number }>("select generation from team_generation where tenant = ?", [
      tenant,
    ]);
    generations.set(tenant, row?.generation ?? 0);
    return row?.generation ?? 0;
  };

  return {
    owner,
    member: ({ tenant, spaces }: Principal) =>
      createView(source, {
        viewer: { role: "sessarc_member", tenant, spaces },
        generation: () => generations.get(tenant) ?? 0,
      }),
    reader: (tenant) => createView(source, { viewer: { role: "sessarc_writer", tenant } }),
    generation,
    async changesSince(tenant, since) {
      const rows = await owner.all<{ session: string }>(
        "select session from team_change where tenant = ? and generation > ? limit ?",
        [tenant, since, MOST_CHANGES + 1],
      );
      return rows.length > MOST_CHANGES ? undefined : rows.map(({ session }) => session);
    },
    async write(tenant, waitMs): Promise<TeamWriter> {
      const viewer = { role: "sessarc_writer", tenant } as const;
      const raise = async (connection: Connection) => {
        await connection.query(
          "insert into team_generation (tenant, generation) values ($1::bigint, 1) on conflict (tenant) do update set generation = team_generation.generation + 1",
          [String(tenant)],
        );
      };
      // The one process of PGlite has no other node to keep out.
      if (engine.single) {
        const release = await turns.take(tenant, waitMs);
        return hold(createView(source, { viewer, beforeCommit: raise }), async () => release());
      }
      const connection = await engine.connect();
      try {
        await lock(connection, tenant, waitMs);
      } catch (error) {
        connection.release(!(error instanceof SessarcError));
        throw error;
      }
      return hold(createView(source, { viewer, connection, beforeCommit: raise }), async () => {
        const freed = await connection.query("select pg_advisory_unlock($1::int, $2::int)", key(tenant)).then(
          () => true,
          () => false,
        );
        connection.release(!freed);
      });
    },
    async migrate(plugin, migrations) {
      await alone(async (connection) => {
        const { rows } = await connection.query("select number, digest from migration where plugin = $1", [plugin]);
        const applied = new Map(rows.map(([number, digest]) => [Number(number), String(digest)]));
        if (applied.size > migrations.length)
          throw new SessarcError("ARCHIVE_NEWER", { plugin, has: applied.size, knows: migrations.length });
        for (const [i, step] of migrations.entries()) {
          const number = i + 1;
          // As the local archive does: the kernel compares it when it starts.
          const digest = stepDigest(step);
          const known = applied.get(number);
          if (known === digest) continue;
          if (known !== undefined) throw new SessarcError("ARCHIVE_OTHER", { plugin, number });
          // The team's own steps are PostgreSQL's already.
          const statements = plugin === "team" ? [step] : translateStep(step, await readSchema(connection));
          for (const statement of statements) await connection.execute(statement).catch(failed(statement, ""));
          await connection.query("insert into migration (plugin, number, digest, at) values ($1, $2::bigint, $3, $4)", [
            plugin,
            String(number),
            digest,
            new Date().toISOString(),
          ]);
        }
        await createSeen(connection);
        schema = await readSchema(connection);
      });
    },
    async close() {
      for (const release of held) await release();
      await owner.close();
      await engine.close();
    },
  };
}

/** Two numbers name an advisory lock: ours, and the tenant's. */
const key = (tenant: number): [string, string] => [String(SCHEMA_LOCK), String(tenant)];

async function lock(connection: Connection, tenant: number, waitMs: number): Promise<void> {
  const until = Date.now() + waitMs;
  for (;;) {
    const { rows } = await connection.query("select pg_try_advisory_lock($1::int, $2::int)::int", key(tenant));
    if (rows[0]?.[0] === 1) return;
    if (Date.now() + TRY_MS > until) throw new SessarcError("TEAM_BUSY", { ms: waitMs });
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}
