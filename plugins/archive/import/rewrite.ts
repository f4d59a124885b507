/** Removes something from all that is stored: what a plugin finds in bytes is replaced by as many others. */
import { isSessarcError, type Kernel, type SessionEvent, type SqlValue, type Statement } from "sessarc";
import type { TranscriptPart } from "sessarc/storage";
import { isDamage } from "../catalogue/damage.ts";
import type { Readers } from "../catalogue/readers.ts";
import { type EarlierRow, packParts, type SessionRow, toParts } from "../catalogue/types.ts";
import { toSignature } from "../search/signature.ts";
import { bytesIn } from "./rows.ts";

/** Where something was found. */
export interface RewriteFound {
  place: "transcript" | "log" | "catalogue" | "net";
  /** Null: of no session. */
  session: string | null;
  /** Places that were replaced, or that would be. */
  count: number;
  /** Places that cannot be: damaged files, rows that would no longer be rows. */
  left: number;
}

export interface Rewrite {
  /** False: it is only looked for. */
  readonly write: boolean;
  /** Sessions of which it is known that they hold it: they are searched in every spelling. */
  readonly sessions: ReadonlySet<string>;
  /** A session that stays as it is. */
  stays(session: string): boolean;
  /** Whether bytes hold it: a quick look. */
  has(bytes: Uint8Array): Promise<boolean>;
  /** As many bytes without it; undefined: there is nothing to replace. */
  mask(
    bytes: Uint8Array,
  ): Promise<{ bytes: Uint8Array; spans: readonly [number, number][]; left: readonly number[] } | undefined>;
  found(one: RewriteFound): void;
}

type Row = Pick<SessionRow, "id" | "parts" | "generation">;
const PAGE = 200;

/** Transcripts, earlier texts too, one session after another; the figures of a session stay. Call it between two imports. */
export async function rewriteTranscripts(kernel: Kernel, rewrite: Rewrite, readers: Readers): Promise<string[]> {
  const { db, transcripts } = kernel.storage;
  const changed: string[] = [];
  for (let after = ""; !kernel.closing.aborted; ) {
    const rows = await db.all<Row>(`select id, parts, generation from session where id > ? order by id limit ${PAGE}`, [
      after,
    ]);
    const last = rows.at(-1);
    if (!last) break;
    after = last.id;
    for (const row of rows) if (!rewrite.stays(row.id) && (await rewriteOne(row))) changed.push(row.id);
  }
  return changed;

  async function rewriteOne(row: Row): Promise<boolean> {
    const earlier = await db.all<EarlierRow>("select * from earlier where session_id = ?", [row.id]);
    const found = { place: "transcript" as const, session: row.id, count: 0, left: 0 };
    const old: number[] = [];
    let { generation } = row;
    const rebuild = async (parts: readonly TranscriptPart[]) => {
      const now: TranscriptPart[] = [];
      for (const part of parts) {
        const written = await rewritePart(row.id, part, generation + 1).catch((error: unknown) => {
          if (!isDamage(error)) throw error;
          found.left++;
          return undefined;
        });
        if (written) {
          generation++;
          old.push(part.generation);
        }
        now.push(written ?? part);
      }
      return now;
    };
    const own = await rebuild(toParts(row));
    const statements: Statement[] = [];
    for (const text of earlier) {
      const parts = await rebuild(toParts(text));
      statements.push([
        "update earlier set parts = ?, transcript_bytes = ? where session_id = ? and version = ?",
        [packParts(parts), bytesIn(parts), row.id, text.version],
      ]);
    }
    if (found.count + found.left > 0) rewrite.found(found);
    if (old.length === 0) return found.count > 0;
    await transcripts.settle();
    await db.batch([
      [
        "update session set parts = ?, transcript_bytes = ?, generation = ? where id = ?",
        [packParts(own), bytesIn(own), generation, row.id],
      ],
      ...statements,
      // What indexers made of the text is made again.
      ...kernel.registry.indexers.flatMap(({ tables }) =>
        tables.map((table): Statement => [`delete from ${table} where session = ?`, [row.id]]),
      ),
      ["delete from indexed where session = ?", [row.id]],
    ]);
    await readers.retire(() => transcripts.remove(row.id, old));
    return true;

    async function rewritePart(id: string, part: TranscriptPart, next: number): Promise<TranscriptPart | undefined> {
      if (!(await isHeld(id, part))) return undefined;
      const events: SessionEvent[] = [];
      for await (const some of transcripts.events(id, [part])) for (const event of some) events.push(event);
      const masked = await rewrite.mask(Buffer.from(events.map((event) => JSON.stringify(event)).join("\n")));
      if (!masked) return undefined;
      found.count += masked.spans.length;
      found.left += masked.left.length;
      if (!rewrite.write || masked.spans.length === 0) return undefined;
      const writer = transcripts.writer(id, next, { firstSeq: part.firstSeq, sidecar: toSignature });
      for (const line of Buffer.from(masked.bytes).toString().split("\n")) writer.add(JSON.parse(line));
      return writer.finish();
    }
  }

  async function isHeld(id: string, part: TranscriptPart): Promise<boolean> {
    if (rewrite.sessions.has(id)) return true;
    for (const entry of (await transcripts.index(id, part)).chunks)
      if (await rewrite.has(await transcripts.chunkBytes(id, part, entry))) return true;
    return false;
  }
}

/** Cells read at once, and bytes of these. */
const CELLS = 2_000;

/** Texts of all tables, of other plugins too: titles, prompts, paths, commands. */
export async function rewriteTables(kernel: Kernel, rewrite: Rewrite): Promise<void> {
  const { db } = kernel.storage;
  const tables = await db.all<{ name: string; wr: number }>(
    "select name, wr from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%' order by name",
  );
  for (const { name, wr } of tables) {
    const columns = await db.all<{ name: string; type: string; pk: number }>(
      "select name, type, pk from pragma_table_info(?)",
      [name],
    );
    const texts = columns.filter(({ type }) => type.toLowerCase() === "text").map((column) => column.name);
    const keys = wr === 0 ? ["rowid"] : columns.filter(({ pk }) => pk > 0).map((column) => column.name);
    if (texts.length > 0) await rewriteTable(name, texts, keys);
  }

  async function rewriteTable(table: string, texts: readonly string[], keys: readonly string[]): Promise<void> {
    const session = texts.includes("session") ? "session" : table === "session" ? "id" : "session_id";
    const owner = texts.includes(session) ? session : null;
    const order = keys.map(quote).join(", ");
    for (let offset = 0; !kernel.closing.aborted; offset += CELLS) {
      const rows = await db.all<Record<string, SqlValue>>(
        `select ${keys.map((key, i) => `${quote(key)} as "key ${i}"`).join(", ")}, ${texts.map(quote).join(", ")}
         from ${quote(table)} order by ${order} limit ${CELLS} offset ${offset}`,
      );
      if (rows.length === 0) return;
      await rewriteRows(rows);
      if (rows.length < CELLS) return;
    }

    async function rewriteRows(rows: readonly Record<string, SqlValue>[]): Promise<void> {
      const all = rows.map((row) => texts.map((column) => String(row[column] ?? "")).join("\n")).join("\n");
      if (!(await rewrite.has(Buffer.from(all)))) return;
      for (const row of rows) {
        const id = owner === null ? null : toText(row[owner]);
        if (id !== null && rewrite.stays(id)) continue;
        const found = { place: "catalogue" as const, session: id, count: 0, left: 0 };
        for (const column of texts) {
          const text = row[column];
          const masked = typeof text === "string" ? await rewrite.mask(Buffer.from(text)) : undefined;
          if (!masked) continue;
          found.count += masked.spans.length;
          if (!rewrite.write) continue;
          const where = keys.map((key) => `${quote(key)} = ?`).join(" and ");
          const at = keys.map((_, i) => row[`key ${i}`] ?? null);
          // A row of which there is another without the secret adds nothing.
          await db
            .run(`update ${quote(table)} set ${quote(column)} = ? where ${where}`, [
              Buffer.from(masked.bytes).toString(),
              ...at,
            ])
            .catch((error: unknown) => {
              if (isSessarcError(error)) throw error;
              return db.run(`delete from ${quote(table)} where ${where}`, at);
            });
        }
        if (found.count > 0) rewrite.found(found);
      }
    }
  }
}

const quote = (name: string) => (name === "rowid" ? name : `"${name.replaceAll('"', '""')}"`);
const toText = (value: SqlValue | undefined) => (typeof value === "string" ? value : null);
