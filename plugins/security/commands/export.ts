import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ErrorBody, SessionEvent } from "sessarc";
import { writeFileAtomic } from "sessarc/files";
import {
  ApiError,
  accepted,
  type CommandContext,
  createProgress,
  isRedacted,
  printable,
  readFrames,
  UsageError,
} from "sessarc/terminal";
import { type Format, renderSession } from "../export/job.ts";
import { type DocumentProject, type DocumentSession, headOf } from "../export/sessions.ts";
import { NOT_CHECKED } from "../secrets/redact/not-checked.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...rest] = ctx.args;
  if (wanted === undefined || rest.length > 0) throw new UsageError("Name one session: `sessarc export <session>`");
  const output = typeof ctx.flags.output === "string" ? ctx.flags.output : undefined;
  const format = readFormat(ctx, output);
  // Anything else that is wrong with that place fails when writing.
  const there = output === undefined ? undefined : await stat(resolve(ctx.cwd, output)).catch(() => undefined);
  if (output !== undefined && there?.isFile() && ctx.flags.force !== true)
    throw new UsageError(`${printable(output)} is there already; --force replaces it`);
  const { session } = await ctx.get<{ session: DocumentSession }>("/sessions/find", { name: wanted });
  const { id } = session;
  const hides = isRedacted(ctx);
  const { text, unchecked } = hides
    ? await redacted(ctx, id, format)
    : { text: await plain(ctx, id, format), unchecked: 0 };
  if (!hides) ctx.err("Nothing was redacted; --redacted leaves secrets out.");
  if (output === undefined) ctx.out(text.replace(/\n$/, ""));
  else {
    await writeWhole(resolve(ctx.cwd, output), text);
    ctx.err(`Written to ${printable(output)}`);
  }
  if (unchecked === 0) return 0;
  ctx.err(
    unchecked === 1
      ? "1 text could not be checked in time and was left out."
      : `${unchecked} texts could not be checked in time and were left out.`,
  );
  return 1;
}

function readFormat(ctx: CommandContext, output: string | undefined): Format {
  const ending = /\.(md|html?|json)$/i
    .exec(output ?? "")?.[1]
    ?.toLowerCase()
    .replace("htm", "html")
    .replace("htmll", "html");
  const format = ctx.json ? "json" : (ctx.flags.format ?? ending ?? "md");
  if (format !== "md" && format !== "html" && format !== "json")
    throw new UsageError("--format takes md, html or json");
  return format;
}

type Frame =
  | { type: "progress"; done: number; total: number }
  | { type: "done"; text: string; redactions: Record<string, number> }
  | ({ type: "error" } & ErrorBody);

async function redacted(ctx: CommandContext, id: string, format: Format): Promise<{ text: string; unchecked: number }> {
  const response = await ctx.fetch(`/sessions/${encodeURIComponent(id)}/export-redacted?format=${format}`, {
    headers: { accept: "text/event-stream" },
    signal: ctx.signal,
  });
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  try {
    for await (const frame of readFrames<Frame>(await accepted(response))) {
      if (frame.type === "progress") progress.update(frame);
      else if (frame.type === "error") throw new ApiError(frame);
      else return { text: frame.text, unchecked: frame.redactions[NOT_CHECKED] ?? 0 };
    }
  } finally {
    progress.clear();
  }
  throw new Error("The export ended without a document");
}

async function plain(ctx: CommandContext, id: string, format: Format): Promise<string> {
  const path = `/sessions/${encodeURIComponent(id)}/messages`;
  const answer = await ctx.get<{
    session: DocumentSession;
    project: DocumentProject;
    messages: (SessionEvent & { id: string | null; at: string | null })[];
  }>(path);
  const events = answer.messages.map(({ id, at, ...event }) => ({
    ...event,
    ...(id === null ? {} : { id }),
    ...(at === null ? {} : { at }),
  }));
  const job = {
    source: { events },
    head: headOf(answer.session, answer.project, await readNotes(ctx, id)),
    rules: null,
    formats: [format],
    madeAt: new Date().toISOString(),
  };
  const result = await renderSession(job);
  return (result.ok && result.documents[format]) || "";
}

/** Bookmarks, tags and notes; none without the plugin that has them. */
async function readNotes(ctx: CommandContext, id: string): Promise<string[]> {
  const path = `/sessions/${encodeURIComponent(id)}/notes`;
  return ctx.get<string[]>(path).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "ROUTE_NOT_FOUND") return [];
    throw error;
  });
}

/** The file is there whole or not at all, and no other user may read it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFileAtomic(path, text).catch((error: unknown) => {
    // The file asked for is what the user knows, not the one beside it.
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  });
}
