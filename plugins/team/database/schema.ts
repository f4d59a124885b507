/** What the dialect and the views know about the tables: read from PostgreSQL's own catalogue. */
import type { Connection } from "./engine.ts";

export interface Table {
  name: string;
  columns: readonly string[];
  /** Columns of the primary key, without the tenant. */
  key: readonly string[];
  /** A plugin's table: it has the columns `tenant` and, where its rows belong to a session, `space`. */
  shared: boolean;
}

export interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  /** Whether every table that has such a column refuses null in it. */
  isNeverNull(column: string): boolean;
}

/** Columns that a plugin's query for `*` does not answer. */
export const HIDDEN: ReadonlySet<string> = new Set(["tenant", "space", "rowid"]);

const COLUMNS = `select c.relname, a.attname, a.attnotnull::int,
    coalesce(array_position(i.indkey::int[], a.attnum::int), -1)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where n.nspname = 'sessarc' and c.relkind in ('r', 'p')
  order by c.relname, a.attnum`;

export async function readSchema(connection: Connection): Promise<Schema> {
  const { rows } = await connection.query(COLUMNS, []);
  const tables = new Map<string, { name: string; columns: string[]; keys: [number, string][]; shared: boolean }>();
  const nullable = new Set<string>();
  for (const [table, column, never, place] of rows) {
    const name = String(table);
    const known = tables.get(name) ?? { name, columns: [], keys: [], shared: false };
    tables.set(name, known);
    if (column === "tenant" && !name.startsWith("team_")) known.shared = true;
    if (HIDDEN.has(String(column))) continue;
    known.columns.push(String(column));
    if (never !== 1) nullable.add(String(column));
    if (Number(place) >= 0) known.keys.push([Number(place), String(column)]);
  }
  const names = new Set([...tables.values()].flatMap(({ columns }) => columns));
  return {
    tables: new Map(
      [...tables].map(([name, { columns, keys, shared }]) => [
        name,
        { name, columns, key: keys.sort(([a], [b]) => a - b).map(([, key]) => key), shared },
      ]),
    ),
    isNeverNull: (column) => names.has(column) && !nullable.has(column),
  };
}
