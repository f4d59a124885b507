/** What security does with archived sessions: check, export, frozen copies. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { basename } from "node:path";
import {
  createLimit,
  type Kernel,
  type Limit,
  mustYield,
  type PoolTask,
  type Services,
  SessarcError,
  type SessionEvent,
  yieldNow,
} from "sessarc";
import type { TranscriptPart } from "sessarc/storage";
import { withoutCutEnd } from "../secrets/hide.ts";
import type { RuleSet } from "../secrets/rule-set.ts";
import type { DocumentHead } from "./document.ts";
import type { CheckJob, CheckResult, EventSource, Format, RenderJob, RenderResult } from "./job.ts";
import type { PiecesJob, PiecesRequest, PiecesResult, WrittenPieces } from "./pieces.ts";
import { pagePolicy } from "./policy.ts";
import { AT_ONCE } from "./turns.ts";
import { DONE, STOP, type Watch } from "./watch.ts";

export type DocumentSession = Awaited<ReturnType<Services["archive"]["session"]>>;
export type DocumentProject = Pick<Awaited<ReturnType<Services["archive"]["project"]>>, "name" | "path">;
type Row = Awaited<ReturnType<Services["archive"]["get"]>>;

/** Service "redactor". */
export interface SessionRedactor {
  /** A finished document of a session. Throws SESSION_NOT_FOUND, and EXPORT_LEAKS when a found value is still readable in it. */
  document(id: string, format: Format, redacted?: boolean, follow?: Follow): Promise<SessionDocumentFile>;
  /** What a share keeps: page and event tree of one redaction. */
  freeze(id: string, expiresAt: string): Promise<FrozenSession>;
  /** A short text with its secrets replaced by their masks. */
  hideSecrets(text: string): Promise<string>;
  /** The characters in [start, end) of a text, masked by a scan of the whole text. */
  excerpt(text: string, start: number, end: number): Promise<string>;
  /** A session's title or first prompt, which its log or the archive may have cut at `most` characters. */
  title(text: string, most: number): Promise<string>;
  /** Messages without their secrets; lets others run in between. A text of more than a megabyte may be hidden as a whole. */
  messages(events: readonly SessionEvent[]): Promise<SessionEvent[]>;
  /**
   * The redacted session in files for another machine, whole or not at all: nothing of it may be used when it throws. Throws SESSION_NOT_FOUND, and
   * EXPORT_LEAKS when a found value is still readable. Reads the session twice; memory does not grow with it.
   */
  pieces(id: string, request: PiecesRequest<TranscriptPart[]>, follow?: Follow): Promise<WrittenPieces>;
  /** Equal while the same texts become the same pieces. */
  piecesVersion(): Promise<string>;
  /** Content-Security-Policy of a frozen page. */
  pagePolicy(page: string): string;
}

/** Who waits for a long work. */
export interface Follow {
  /** Messages checked so far; a few times a second. */
  onProgress?(done: number, total: number): void;
  /** Ends the work soon after it aborts. */
  signal?: AbortSignal;
}

interface SessionDocumentFile {
  text: string;
  /** Says nothing of the session's content. */
  fileName: string;
  redactions: Record<string, number>;
}

export interface FrozenSession {
  title: string;
  page: string;
  /** JSON. */
  tree: string;
  fileName: string;
  redactions: Record<string, number>;
}

export const CHECK: PoolTask<[CheckJob], CheckResult> = {
  specifier: "sessarc/plugins/security/export/job",
  export: "checkSession",
  inline: async (job) => (await import("./job.ts")).checkSession(job),
};
const RENDER: PoolTask<[RenderJob], RenderResult> = {
  specifier: "sessarc/plugins/security/export/job",
  export: "renderSession",
  inline: async (job) => (await import("./job.ts")).renderSession(job),
};

const PIECES: PoolTask<[PiecesJob<EventSource>], PiecesResult> = {
  specifier: "sessarc/plugins/security/export/job",
  export: "writeSessionPieces",
  inline: async (job) => (await import("./job.ts")).writeSessionPieces(job),
};
/** Changes when the same rules make other pieces. */
const PIECES_FORMAT = 1;

export interface SecuritySessions extends SessionRedactor {
  /** Of documents that are read in an answer. */
  readonly turns: Limit;
  check(id: string, personal: boolean, follow?: Follow): Promise<CheckResult>;
  forget(id: string): Promise<void>;
}

/** ms of looking for secrets in one message that is shown at once: the first of a start is slow on a busy machine, and one not checked is hidden. */
const MESSAGE_MS = 500;
/** Changes with what a kept check says. */
const CHECKED = 2;
const PROGRESS_MS = 250;

/** `budgetMs`: of looking for secrets in one session. What is left then is named by a check and left out of a document. */
export function createSessions(kernel: Kernel, rules: RuleSet, budgetMs: number): SecuritySessions {
  const { db } = kernel.storage;
  const archive = () => kernel.inject("archive");

  const readSource = (row: Pick<Row, "id" | "parts">) => toSource(kernel, row);

  /** Runs a job that can be watched and stopped. */
  async function watched<R>(
    { id, length }: Pick<Row, "id" | "length">,
    follow: Follow | undefined,
    run: (watch: Watch) => Promise<R>,
  ): Promise<R> {
    const watch: Watch = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const stop = () => Atomics.store(watch, STOP, 1);
    const timer = setInterval(() => follow?.onProgress?.(Atomics.load(watch, DONE), length), PROGRESS_MS);
    const ends = [kernel.closing, ...(follow?.signal ? [follow.signal] : [])];
    for (const end of ends) {
      end.addEventListener("abort", stop, { once: true });
      if (end.aborted) stop();
    }
    try {
      return await run(watch);
    } catch (error) {
      if (Atomics.load(watch, STOP) === 0) throw error;
      throw new DOMException("The caller does not wait for this any more", "AbortError");
    } finally {
      clearInterval(timer);
      for (const end of ends) end.removeEventListener("abort", stop);
      // A session that is deleted meanwhile is not reported, and its missing transcript is not damage.
      await archive().get(id);
    }
  }

  async function render(id: string, formats: Format[], redacted: boolean, follow?: Follow, expiresAt?: string) {
    const [row, session] = await Promise.all([archive().get(id), archive().session(id)]);
    const project = await archive().project(session.projectId);
    const job: RenderJob = {
      source: await readSource(row),
      // A link is for others: it holds the session alone.
      head: headOf(session, project, expiresAt === undefined ? await kernel.find("notes")?.lines(id) : []),
      toolName: archive().adapter(session.tool)?.label ?? session.tool,
      rules: redacted ? await rules.exportRules() : null,
      formats,
      madeAt: new Date().toISOString(),
      ...(expiresAt !== undefined && { expiresAt }),
      budgetMs,
    };
    const result = await watched(row, follow, (watch) => kernel.pool.run(RENDER, { ...job, watch }));
    if (!result.ok) throw new SessarcError("EXPORT_LEAKS", { rules: result.leaks });
    return { ...result, session };
  }

  /** What a text may say of this machine. */
  async function machine() {
    const { home, env } = kernel.env;
    const user = env.USER ?? env.LOGNAME ?? env.USERNAME;
    const names = [user, hostname(), basename(home)].filter((name) => name !== undefined);
    return { rules: await rules.exportRules(), home, names };
  }

  return {
    turns: createLimit(AT_ONCE),
    pagePolicy,
    hideSecrets: (text) => rules.hide(text),
    excerpt: (text, start, end) => rules.excerpt(text, start, end),
    title: (text, most) => rules.hide(withoutCutEnd(text, most)),
    async messages(events) {
      const { createRedactor } = await import("../secrets/engine.ts");
      const scanner = await rules.scanner();
      const out: SessionEvent[] = [];
      for (const event of events) {
        out.push(...createRedactor(scanner, { budgetMs: MESSAGE_MS }).redactEvents([event]));
        if (mustYield()) await yieldNow();
      }
      return out;
    },
    async document(id, format, redacted = true, follow?: Follow) {
      const { documents, redactions, session } = await render(id, [format], redacted, follow);
      return { text: documents[format] ?? "", fileName: fileName(session, format), redactions };
    },
    async freeze(id, expiresAt) {
      const formats: Format[] = ["html", "json"];
      const { documents, redactions, session, head } = await render(id, formats, true, undefined, expiresAt);
      return {
        title: head.title,
        page: documents.html ?? "",
        tree: documents.json ?? "",
        fileName: fileName(session, "html"),
        redactions,
      };
    },
    async pieces(id, request, follow) {
      const row = await archive().get(id);
      const job: PiecesJob<EventSource> = {
        ...request,
        texts: await Promise.all(request.texts.map((parts) => partsSource(kernel, row, parts))),
        ...(await machine()),
        budgetMs,
      };
      const result = await watched(row, follow, (watch) => kernel.pool.run(PIECES, { ...job, watch }));
      if (!result.ok) throw new SessarcError("EXPORT_LEAKS", { rules: result.leaks });
      const { ok: _, ...pieces } = result;
      return pieces;
    },
    async piecesVersion() {
      const { rulesVersion } = await import("../secrets/rules/rules.ts");
      const { rules: all, home, names } = await machine();
      const replaced = all.map((rule) => rule.replacement ?? "");
      return toDigest([PIECES_FORMAT, rulesVersion(all), replaced, home, names]);
    },
    async check(id, personal, follow) {
      const row = await archive().get(id);
      const all = await rules.list();
      const transcript = `${CHECKED} ${row.revision}`;
      const { rulesVersion } = await import("../secrets/rules/rules.ts");
      const version = rulesVersion(all);
      if (!personal) {
        const known = await db.get<{ data: string }>(
          "select data from security_check where session_id = ? and transcript = ? and version = ?",
          [id, transcript, version],
        );
        if (known) return JSON.parse(known.data) as CheckResult;
      }
      const categories: CheckJob["categories"] = personal ? ["secret", "personal"] : ["secret"];
      const job: CheckJob = {
        source: await readSource(row),
        rules: personal ? await rules.exportRules() : all,
        categories,
        budgetMs,
      };
      const result = await watched(row, follow, (watch) => kernel.pool.run(CHECK, { ...job, watch }));
      // What was not whole is tried again.
      if (!personal && !result.partial && !kernel.storage.readOnly)
        await db.run(
          "insert into security_check (session_id, transcript, version, data) values (?, ?, ?, ?) on conflict (session_id) do update set transcript = excluded.transcript, version = excluded.version, data = excluded.data",
          [id, transcript, version, JSON.stringify(result)],
        );
      return result;
    },
    async forget(id) {
      // Most were never checked: then nothing is written.
      if (await db.get("select 1 from security_check where session_id = ?", [id]))
        await db.run("delete from security_check where session_id = ?", [id]);
    },
  };
}

/** Where titles and first prompts are cut when they are stored. */
const TITLE_CHARS = 200;
const PROMPT_CHARS = 400;

export function headOf(session: DocumentSession, project: DocumentProject, notes: string[] = []): DocumentHead {
  const { name, title, firstPrompt, id } = session;
  return {
    title:
      name ??
      (title && withoutCutEnd(title, TITLE_CHARS)) ??
      (firstPrompt && withoutCutEnd(firstPrompt, PROMPT_CHARS)) ??
      id,
    tool: session.tool,
    project: project.name,
    path: session.cwd ?? project.path,
    branch: session.gitBranch,
    models: session.models,
    startedAt: session.startedAt,
    endedAt: session.endedAt,
    messages: session.messageCount,
    notes,
  };
}

/** Tool, day and a digest of the id: titles and paths may hold anything. */
function fileName(session: DocumentSession, format: Format): string {
  const digest = createHash("sha256").update(session.id).digest("hex").slice(0, 8);
  const tool = session.tool.replace(/[^a-z0-9-]/g, "");
  return `sessarc-${tool}-${(session.startedAt ?? "").slice(0, 10) || "session"}-${digest}.${format}`;
}

/** Workers read the data directory themselves; where messages are stored elsewhere they are passed to them. */
export async function toSource(kernel: Kernel, row: Pick<Row, "id" | "parts">): Promise<EventSource> {
  if (kernel.pool.threaded && kernel.config.storage.driver === undefined)
    return { dir: kernel.storage.dataDir, id: row.id, parts: [...row.parts] };
  const events: SessionEvent[] = [];
  for await (const batch of kernel.inject("archive").events(row)) events.push(...batch);
  return { events };
}

const partsSource = (kernel: Kernel, { id }: Pick<Row, "id">, parts: TranscriptPart[]) =>
  toSource(kernel, { id, parts });

const toDigest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
