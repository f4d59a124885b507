/** GET /git/find: where a file, a `file:line` or a pasted line of code comes from, among all that archived sessions wrote. */
import type { Kernel } from "sessarc";
import { computeWeight, toKey } from "./indexer/keys.ts";
import { readCalls, type WrittenCall } from "./indexer/rows.ts";
import type { Writer } from "./origins.ts";
import { absolute, slashed } from "./writes.ts";

/** A file that sessions wrote, or a line of it. */
export interface FoundPlace {
  project: { id: string; name: string };
  /** Below the project's folder; as the call wrote it where it is outside. */
  path: string;
  /** Whether the project has a folder that holds the file: only then can its lines be shown. */
  inside: boolean;
  /** The line number of the question; null without one. */
  line: number | null;
  /** The pasted line; null where a file was asked for. */
  text: string | null;
  /** Sessions that wrote the file, or the line. */
  sessions: number;
  /** The latest call that wrote it. */
  last: Writer;
}

interface Row {
  session: string;
  path: string;
  name: string;
  tool: string;
  title: string | null;
  cwd: string | null;
  ended: number;
  project: string;
  project_name: string;
  root: string | null;
}

/** Rows of one question: the newest. */
const MOST = 400;
/** Letters and digits from which on a pasted line is distinctive. */
const ENOUGH = 8;

const COLUMNS = `f.session, f.path, f.name, s.tool, substr(coalesce(s.name, s.title, s.first_prompt), 1, 160) as title, s.cwd,
  s.sort_at as ended, s.project_id as project, coalesce(p.name, p.derived_name) as project_name, p.path as root`;
const TABLES = "blame_file f join session s on s.id = f.session join project p on p.id = s.project_id";
const NEWEST = `order by s.sort_at desc limit ${MOST}`;

/** Files by a part of their path, `path:line`, and lines by their text; best first. */
export async function findPlaces(kernel: Kernel, q: string, limit: number): Promise<FoundPlace[]> {
  const asked = placeIn(q);
  const named = asked ? await byPath(kernel, asked.path) : [];
  const groups = named.length > 0 ? named : [...(await byText(kernel, q)), ...(await byPart(kernel, q))];
  const line = named.length > 0 && asked ? asked.line : null;
  const found: FoundPlace[] = [];
  for (const group of groups.slice(0, limit)) found.push(await shown(kernel, group, line));
  return found;
}

/** `src/app.ts:42`, also inside of other text, as compilers, stack traces and `git grep` write it; `(42)` and `#L42` too. */
function placeIn(q: string): { path: string; line: number } | undefined {
  // `12:30` and `error:4` are not places.
  for (const [, path = "", line] of q.matchAll(PLACE)) if (/[./\\]/.test(path)) return { path, line: Number(line) };
  return undefined;
}

const PLACE = /((?:[A-Za-z]:)?[^\s:()"'`<>]+)(?::|\(|#L)([1-9]\d{0,6})(?!\w)/g;

/** What was written at one place, newest first. */
interface Group {
  rows: Row[];
  path: string;
  inside: boolean;
  /** The pasted line with its number in the rows. */
  text?: string;
  key?: number;
}

function grouped(rows: readonly Row[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const { path, inside } = below(row);
    const key = JSON.stringify([row.project, path]);
    const known = groups.get(key);
    if (known) known.rows.push(row);
    else groups.set(key, { rows: [row], path, inside });
  }
  return [...groups.values()];
}

/** A path as from its project's folder, or from the session's working directory: a work tree elsewhere. */
function below({ path, cwd, root }: Row): { path: string; inside: boolean } {
  const full = absolute(path, cwd, root ?? "");
  for (const base of [root, cwd]) {
    if (base === null) continue;
    const folder = `${slashed(base)}/`;
    if (full.startsWith(folder)) return { path: full.slice(folder.length), inside: root !== null };
  }
  return { path: full, inside: false };
}

async function byPath(kernel: Kernel, asked: string): Promise<Group[]> {
  const wanted = slashed(asked).replace(/^(\.\/)+/, "");
  const name = wanted.slice(wanted.lastIndexOf("/") + 1);
  const rows = await kernel.storage.db.all<Row>(`select ${COLUMNS} from ${TABLES} where f.name = ? ${NEWEST}`, [name]);
  const fits = ({ path, cwd, root }: Row) => {
    const full = absolute(path, cwd, root ?? "");
    return full === wanted || full.endsWith(`/${wanted}`) || wanted.endsWith(`/${slashed(path)}`);
  };
  return grouped(rows.filter(fits));
}

async function byPart(kernel: Kernel, q: string): Promise<Group[]> {
  const part = q.trim();
  if (part.length < 2 || /\s/.test(part)) return [];
  const like = `%${part.replace(/[\\/]/g, "/").replace(/[%_]/g, "\\$&").replaceAll("/", "_")}%`;
  const rows = await kernel.storage.db.all<Row>(
    `select ${COLUMNS} from ${TABLES} where f.path like ? escape '\\' ${NEWEST}`,
    [like],
  );
  const wanted = slashed(part).toLowerCase();
  const rank = ({ path }: Group) => {
    const lower = path.toLowerCase();
    const name = lower.slice(lower.lastIndexOf("/") + 1);
    if (lower === wanted || name === wanted) return 0;
    if (name.startsWith(wanted)) return 1;
    return name.includes(wanted) ? 2 : lower.includes(wanted) ? 3 : 4;
  };
  // What only the folder above the project contains is no answer.
  return grouped(rows)
    .filter((group) => rank(group) < 4)
    .sort((a, b) => rank(a) - rank(b));
}

async function byText(kernel: Kernel, q: string): Promise<Group[]> {
  const text = lineIn(q);
  if (text === undefined) return [];
  const { db } = kernel.storage;
  for (const one of spellings(text)) {
    const key = toKey(one);
    const rows = await db.all<Row & { lines: Uint8Array; calls: string }>(
      `select ${COLUMNS}, f.calls, f.lines from ${TABLES} where instr(f.lines, ?) > 0 ${NEWEST}`,
      [new Uint8Array(Int32Array.of(key).buffer)],
    );
    const holding = rows.filter(({ calls, lines }) => readCalls(calls, lines).some((call) => call.lines.includes(key)));
    if (holding.length > 0) return grouped(holding).map((group) => ({ ...group, text: one.trim(), key }));
  }
  return [];
}

/** The line of a pasted text that says most; undefined for words, which the search finds. */
function lineIn(q: string): string | undefined {
  const [best] = q
    .split("\n")
    .filter((line) => computeWeight(line) >= ENOUGH && /[^\p{L}\p{N}\s]/u.test(line))
    .sort((a, b) => computeWeight(b) - computeWeight(a));
  return best;
}

/** As it is; without the sign of a diff; without a line number before it. */
function spellings(line: string): string[] {
  return [...new Set([line, line.replace(/^\s*[+-]/, ""), line.replace(/^\s*\d+[\s:|→]+/, "")])].filter(
    (one) => computeWeight(one) >= ENOUGH,
  );
}

async function shown(kernel: Kernel, group: Group, line: number | null): Promise<FoundPlace> {
  const { rows, path, inside, text } = group;
  const { row, call, at } = await lastChange(kernel, group);
  return {
    project: { id: row.project, name: row.project_name },
    ...{ path, inside, line, text: text ?? null, sessions: new Set(rows.map(({ session }) => session)).size },
    last: {
      ...{ sessionId: row.session, tool: row.tool, title: row.title, seq: call?.seq ?? 0, name: call?.name ?? "" },
      at: new Date(at).toISOString(),
    },
  };
}

interface Change {
  row: Row;
  call: WrittenCall | undefined;
  /** ms; the end of the session for a call without a time. */
  at: number;
}

/** The latest call that wrote the file, or the line. A session may go on for hours after it: its end does not decide. */
async function lastChange(kernel: Kernel, { rows, key }: Group): Promise<Change> {
  let last: Change | undefined;
  for (const row of rows) {
    // Rows come by the end of their session, latest first: none of the rest can be later.
    if (last && last.at > row.ended) break;
    const stored = await kernel.storage.db.get<{ calls: string; lines: Uint8Array }>(
      "select calls, lines from blame_file where session = ? and path = ?",
      [row.session, row.path],
    );
    const call = (stored ? readCalls(stored.calls, stored.lines) : [])
      .filter((one) => key === undefined || one.lines.includes(key))
      .reduce<WrittenCall | undefined>((latest, one) => (latest && latest.seq > one.seq ? latest : one), undefined);
    const change = { row, call, at: call?.at ?? row.ended };
    if (!last || isLater(change, last)) last = change;
  }
  if (!last) throw new RangeError("A place without rows");
  return last;
}

const isLater = (a: Change, b: Change): boolean =>
  a.row.session === b.row.session ? (a.call?.seq ?? -1) > (b.call?.seq ?? -1) : a.at > b.at;
