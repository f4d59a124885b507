/** A session as a document, with its secrets or without. */
import type { ErrorBody, SessionEvent } from "sessarc";
import { ApiError, accepted, type CommandContext, createProgress, readFrames } from "sessarc/terminal";
import { type Format, renderSession } from "../export/job.ts";
import { type DocumentProject, type DocumentSession, headOf } from "../export/sessions.ts";
import { NOT_CHECKED } from "../secrets/redact/not-checked.ts";

type Frame =
  | { type: "progress"; done: number; total: number }
  | { type: "done"; text: string; redactions: Record<string, number> }
  | ({ type: "error" } & ErrorBody);

export async function redacted(
  ctx: CommandContext,
  id: string,
  format: Format,
): Promise<{ text: string; unchecked: number }> {
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

export async function plain(ctx: CommandContext, id: string, format: Format): Promise<string> {
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
