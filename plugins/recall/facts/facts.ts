/** Facts as the service answers them: newest first, without what a fork copied, their secrets masked. */
import { type Kernel, type SqlValue, toList, toRecord, toText } from "sessarc";
import { baseOf, normalizeCommand } from "./command.ts";
import { FACT_KINDS, type Fact, type FactKind, type FactQuery } from "./contract.ts";

/** A fact as it is stored: its secrets are not masked. */
export interface StoredFact extends Omit<Fact, "at" | "files"> {
  at: number | null;
  files: readonly string[];
  /** Of the session: ms. */
  sortAt: number;
}

interface Row extends Omit<StoredFact, "files"> {
  files: string;
}

/** What a fork copied counts where it came from. */
const OWN = "f.seq >= s.copied";
const COLUMNS = `f.session, f.seq, f.kind, f.at, s.project_id as "projectId", s.sort_at as "sortAt",
  f.subject, f.family, f.command, f.text, f.files, f.other, f.count`;
const MOST = 500;

const isKind = (text: string): text is FactKind => FACT_KINDS.some((kind) => kind === text);

export async function findFacts({ storage: { db } }: Kernel, query: FactQuery): Promise<StoredFact[]> {
  const { projectId, kinds, subject, file, since, limit } = query;
  const where = [OWN];
  const params: SqlValue[] = [];
  const add = (sql: string, ...values: SqlValue[]) => {
    where.push(sql);
    params.push(...values);
  };
  if (projectId !== undefined) add("s.project_id = ?", projectId);
  if (since !== undefined) add("s.sort_at >= ?", since);
  const wanted = kinds?.filter(isKind);
  if (wanted) add(wanted.length > 0 ? `f.kind in (${wanted.map(() => "?").join(", ")})` : "1 = 0", ...wanted);
  const normal = subject === undefined ? undefined : (normalizeCommand(subject) ?? { subject, family: subject });
  if (normal) add("f.family = ? and f.family <> ''", normal.family);
  const name = file === undefined ? undefined : baseOf(file);
  if (name !== undefined) add("s.id in (select session from recall_file where name = ?)", name);
  const first = normal ? "case when f.subject = ? then 0 else 1 end, " : "";
  if (normal) params.push(normal.subject);
  // A file's name is in many sessions, its path in few: the rest of the path is compared here.
  const rows = await db.all<Row>(
    `select ${COLUMNS} from recall_facts f join session s on s.id = f.session where ${where.join(" and ")}
     order by ${first}s.sort_at desc, f.session, f.seq desc, f.kind limit ${name === undefined ? toLimit(limit) : MOST * 4}`,
    params,
  );
  const facts = rows.map(toFact);
  if (file === undefined) return facts;
  return facts.filter(({ files }) => files.some((path) => isSameEnd(path, file))).slice(0, toLimit(limit));
}

export const toFact = (row: Row): StoredFact => ({
  ...row,
  files: toList(JSON.parse(row.files)).flatMap((path) => toText(path) ?? []),
});

const toLimit = (limit: number) => Math.max(1, Math.min(MOST, Math.floor(limit)));

/** One of the paths is the other's end, by whole parts. */
export function isSameEnd(a: string, b: string): boolean {
  const parts = (path: string) =>
    path
      .replaceAll("\\", "/")
      .split("/")
      .filter((part) => part !== "" && part !== ".")
      .reverse();
  const [one, other] = [parts(a), parts(b)];
  const shorter = one.length < other.length ? one : other;
  return shorter.length > 0 && shorter.every((_, i) => one[i] === other[i]);
}

/** The facts with their secrets masked: a value that one of a fact's texts shows to be secret is masked in all of them. */
export async function maskFacts(kernel: Kernel, facts: readonly StoredFact[]): Promise<Fact[]> {
  const events = facts.map(({ subject, family, command, text, files }, seq) => ({
    ...{ seq, kind: "tool_use" as const, text, tool_input: { subject, family, command, files: [...files] } },
  }));
  const masked = await kernel.inject("redactor").messages(events);
  return facts.map(({ sortAt: _, at, ...fact }, i) => {
    const input = toRecord(masked[i]?.tool_input);
    return {
      ...fact,
      at: at === null ? null : new Date(at).toISOString(),
      subject: toText(input.subject) ?? "",
      family: toText(input.family) ?? "",
      command: toText(input.command) ?? "",
      text: masked[i]?.text ?? "",
      files: toList(input.files).flatMap((path) => toText(path) ?? []),
    };
  });
}

/** Facts of a session between two messages, and how many of its first messages a fork copied. */
export async function factsAmong(
  { storage: { db } }: Kernel,
  session: string,
  from: number,
  to: number,
): Promise<{ copied: number; facts: StoredFact[] }> {
  const rows = await db.all<(Row | Record<keyof Row, null>) & { copied: number }>(
    `select ${COLUMNS}, s.copied from session s
     left join recall_facts f on f.session = s.id and f.seq between ? and ? and ${OWN}
     where s.id = ? order by f.seq, f.kind`,
    [from, to, session],
  );
  const copied = Math.max(0, rows[0]?.copied ?? 0);
  return { copied, facts: rows.flatMap(({ copied: _, ...row }) => (row.seq === null ? [] : [toFact(row)])) };
}
