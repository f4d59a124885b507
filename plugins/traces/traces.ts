/** The service: sessions of which the assistant's list of prompts is all that is left. */
import { isoAt, type Kernel, marks, pages, type Services } from "sessarc";
import { type KnownFiles, loadKnown, readLists } from "./read.ts";

type Traces = Services["traces"];
type Trace = Awaited<ReturnType<Traces["list"]>>[number];
type TracePrompt = NonNullable<ReturnType<Awaited<ReturnType<Traces["prompts"]>>["get"]>>[number];

interface Row {
  id: string;
  tool: string;
  title: string | null;
  cwd: string | null;
  first: number;
  last: number;
  prompts: number;
}

/** The log of a session that was typed into since then may not be written, or listed, yet. */
const DAY = 86_400_000;
const TITLE = 200;
/** A command of the assistant, without words: `/clear`. It is kept, and is no reason for a session to have been. */
const SPOKEN = "(text not like '/%' or instr(trim(text), ' ') > 0)";

export function createTraces(kernel: Kernel): Traces {
  const { db, readOnly } = kernel.storage;
  const archive = kernel.inject("archive");
  let known: KnownFiles | undefined;
  let reading: Promise<void> | undefined;
  /** Grows with what is stored here. */
  let revision = 0;
  /** All rows, for as long as nothing changes: each search asks for them. */
  let last: { of: string; rows: Row[] } | undefined;
  /** Ids that a scan looked for. */
  let asked: ReadonlySet<string> = new Set();

  /** Once for calls at a time. */
  function refresh(): Promise<void> {
    if (readOnly) return Promise.resolve();
    reading ??= (async () => {
      known ??= await loadKnown(kernel);
      if (await readLists(kernel, known)) revision++;
    })().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function readRows(filter: { tool?: string | undefined; id?: string }): Promise<Row[]> {
    // A trace is shown a day after its last prompt: a minute more does not matter.
    const of = `${archive.generation} ${revision} ${Math.floor(Date.now() / 60_000)}`;
    const isWhole = filter.tool === undefined && filter.id === undefined;
    if (isWhole && last?.of === of) return last.rows;
    const rows = await askRows(filter);
    if (isWhole) last = { of, rows };
    return rows;
  }

  const askRows = (filter: { tool?: string | undefined; id?: string }) =>
    db.all<Row>(
      `select t.id, t.tool, coalesce(t.title, (
           select p.text from trace_prompt p where p.trace = t.id order by ${SPOKEN} desc, p.at limit 1)) as title,
         t.cwd, min(p.at) as first, max(p.at) as last, count(*) as prompts
       from trace t join trace_prompt p on p.trace = t.id
       where t.removed = 0 and (?1 is null or t.tool = ?1) and (?2 is null or t.id = ?2)
         and not exists (select 1 from session s where s.id = t.id)
       group by t.id, t.tool, t.title, t.cwd
       having max(p.at) < ?3 and sum(${SPOKEN}) > 0
       order by last desc, t.id`,
      [filter.tool ?? null, filter.id ?? null, Date.now() - DAY],
    );

  async function list(filter: { tool?: string | undefined; id?: string } = {}): Promise<Trace[]> {
    await refresh();
    const rows = await readRows(filter);
    if (rows.length === 0) return [];
    // A log that is there is only not imported. Said to be gone is what a scan did not find that began after it was first asked for.
    const importer = kernel.inject("importer");
    const isAsked = rows.every(({ id }) => asked.has(id) || importer.lastScan?.found.get(id));
    const { found, tools } = (isAsked && importer.lastScan) || (await importer.scan());
    asked = new Set([...asked, ...rows.map(({ id }) => id)]);
    const unlisted = new Set(tools.filter((tool) => tool.unlisted).map((tool) => tool.tool));
    return rows.filter(({ id, tool }) => !found.get(id) && !unlisted.has(tool)).map(toTrace);
  }

  return {
    list,
    async count() {
      const all = await list();
      return { sessions: all.length, prompts: all.reduce((sum, { prompts }) => sum + prompts, 0) };
    },
    find: async (id) => (await list({ id }))[0],
    async prompts(ids, part) {
      const prompts = new Map<string, TracePrompt[]>();
      for (const page of pages(ids)) {
        const rows = await db.all<{ trace: string; seq: number; at: number; text: string }>(
          `select * from (
             select trace, row_number() over (partition by trace order by at, hash) - 1 as seq, at, text
             from trace_prompt where trace in (${marks(page)})) as numbered
           ${part === undefined ? "" : "where text like ? escape '\\'"} order by trace, seq`,
          [...page, ...(part === undefined ? [] : [`%${part.replace(/[\\%_]/g, "\\$&")}%`])],
        );
        for (const { trace, seq, at, text } of rows)
          prompts.set(trace, [...(prompts.get(trace) ?? []), { seq, at: toTime(at), text }]);
      }
      return prompts;
    },
    async remove(id) {
      await db.batch([
        ["delete from trace_prompt where trace = ?", [id]],
        ["update trace set removed = 1, title = null, cwd = null where id = ?", [id]],
      ]);
      revision++;
    },
  };
}

const toTime = (at: number): string | null => (at > 0 ? isoAt(at) : null);

const toTrace = ({ title, first, last, ...row }: Row): Trace => ({
  ...row,
  title: title === null ? null : title.replace(/\s+/g, " ").trim().slice(0, TITLE),
  startedAt: toTime(first),
  endedAt: toTime(last),
});
