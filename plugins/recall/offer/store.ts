/** What the offer stores: the answer of each project, and what was offered. */
import { BoundedMap, type Json, type Kernel, type Statement } from "sessarc";
import * as v from "valibot";
import { answerSchema, type ProjectAnswer, toJson } from "./answer.ts";
import type { OfferLine } from "./line.ts";
import type { Moment, Offered } from "./schema.ts";

/** Lines that the log holds; the oldest are removed. */
const MOST_OFFERED = 1_000;
/** Of a line: its use is not known, and can be. */
const OPEN = "used is null and names <> '[]'";

export type OfferStore = ReturnType<typeof createOfferStore>;

export function createOfferStore({ storage: { db } }: Kernel) {
  const answers = new BoundedMap<string, ProjectAnswer>(16);
  let folders: Promise<{ project: string; folders: string[] }[]> | undefined;
  /** Sessions with lines whose use is not known, read once: every import asks for each of its sessions. */
  let open: Promise<Set<string>> | undefined;
  const readOpen = () => {
    open ??= db
      .all<{ session: string }>(`select distinct session from recall_offered where ${OPEN}`)
      .then((rows) => new Set(rows.map(({ session }) => session)));
    open.catch(() => {
      open = undefined;
    });
    return open;
  };

  return {
    /** Each project that has an answer, with its folders. */
    folders() {
      folders ??= db
        .all<{ project: string; folders: string }>("select project, folders from recall_answer")
        .then((rows) =>
          rows.map((row) => ({ ...row, folders: v.parse(v.array(v.string()), JSON.parse(row.folders)) })),
        );
      folders.catch(() => {
        folders = undefined;
      });
      return folders;
    },
    async answer(project: string): Promise<ProjectAnswer | undefined> {
      const known = answers.use(project);
      if (known) return known;
      const row = await db.get<{ answer: string }>("select answer from recall_answer where project = ?", [project]);
      if (!row) return undefined;
      const answer = v.parse(answerSchema, JSON.parse(row.answer));
      answers.set(project, answer);
      return answer;
    },
    async built(): Promise<Map<string, number>> {
      const rows = await db.all<{ project: string; built: number }>("select project, built from recall_answer");
      return new Map(rows.map(({ project, built }) => [project, built]));
    },
    async save(project: string, answer: ProjectAnswer | undefined, built: number): Promise<void> {
      if (answer)
        await db.batch([
          [
            `insert into recall_answer (project, folders, answer, built) values (?, ?, ?, ?) on conflict (project)
             do update set folders = excluded.folders, answer = excluded.answer, built = excluded.built`,
            [project, JSON.stringify(answer.folders), toJson(answer), built],
          ],
        ]);
      else await db.batch([["delete from recall_answer where project = ?", [project]]]);
      answers.delete(project);
      folders = undefined;
    },
    /** The lines that were offered to a session. */
    async said(session: string): Promise<Set<string>> {
      const rows = await db.all<{ line: string }>("select line from recall_offered where session = ?", [session]);
      return new Set(rows.map(({ line }) => line));
    },
    async log(
      session: string,
      moment: Moment,
      project: string,
      lines: readonly OfferLine[],
      at: number,
    ): Promise<void> {
      (await readOpen()).add(session);
      await db.batch([
        ...lines.map(
          ({ text, session: source, seq, names }): Statement => [
            `insert into recall_offered (session, line, at, moment, project, source, seq, names, used)
             values (?, ?, ?, ?, ?, ?, ?, ?, null) on conflict (session, line) do nothing`,
            [session, text, at, moment, project, source, seq, JSON.stringify(names)],
          ],
        ),
        [
          `delete from recall_offered where at < (select at from recall_offered order by at desc limit 1 offset ${MOST_OFFERED - 1})`,
          [],
        ],
      ]);
    },
    async offered(limit: number): Promise<Offered[]> {
      const rows = await db.all<{ at: number; used: number | null; source: string; seq: number | null } & Row>(
        `select session, line, at, moment, project, source, seq, used from recall_offered order by at desc, session, line limit ${limit}`,
      );
      return rows.map(({ at, used, source, seq, project, ...row }) => ({
        ...row,
        at: new Date(at).toISOString(),
        projectId: project,
        source: { session: source, seq },
        used: used === null ? null : used === 1,
      }));
    },
    /** Lines of a session whose use is not known yet. */
    async open(session: string): Promise<{ line: string; at: number; names: string[] }[]> {
      const sessions = await readOpen();
      if (!sessions.has(session)) return [];
      const rows = await db.all<{ line: string; at: number; names: string }>(
        `select line, at, names from recall_offered where session = ? and ${OPEN}`,
        [session],
      );
      if (rows.length === 0) sessions.delete(session);
      return rows.map((row) => ({ ...row, names: toNames(JSON.parse(row.names)) }));
    },
    async mark(session: string, line: string, used: boolean): Promise<void> {
      await db.batch([
        ["update recall_offered set used = ? where session = ? and line = ?", [used ? 1 : 0, session, line]],
      ]);
    },
  };
}

interface Row {
  session: string;
  line: string;
  moment: Moment;
  project: string;
}

const toNames = (value: Json): string[] => v.parse(v.array(v.string()), value);
