/** `sessarc mark note`, `sessarc mark tag`, `sessarc mark bookmark`. */

import {
  type Column,
  type CommandContext,
  createStyle,
  formatTable,
  oneLine,
  printable,
  send,
  UsageError,
} from "sessarc/terminal";
import type { ListedMark, Mark, MarkChange } from "../notes.ts";
import { messageFlag, sessionId } from "./_arguments.ts";

export async function runNote(ctx: CommandContext): Promise<number> {
  const [action = "list", ...rest] = ctx.args;
  if (action === "set") {
    const [session, ...words] = rest;
    if (session === undefined || words.length === 0)
      throw new UsageError("`sessarc mark note set` takes a session and the text of the note");
    return change(ctx, session, { note: words.join(" ") });
  }
  if (action === "remove") {
    const [session, ...more] = rest;
    if (session === undefined || more.length > 0) throw new UsageError("`sessarc mark note remove` takes a session");
    return change(ctx, session, { note: "" });
  }
  return list(ctx, (action === "list" ? rest : [action, ...rest]).join(" "));
}

export async function runTag(ctx: CommandContext): Promise<number> {
  const [session = "list", ...tags] = ctx.args;
  if (tags.length === 0) {
    if (session !== "list") throw new UsageError("`sessarc mark tag` takes a session and tags");
    return listTags(ctx);
  }
  const id = await sessionId(ctx, session);
  const seq = messageFlag(ctx);
  const known = await ctx.get<ListedMark[]>("/notes", { session: id });
  const mark = known.find((one) => (seq === undefined ? one.of === "session" : one.seq === seq));
  const before = mark?.tags ?? [];
  const wanted = tags.map((tag) => tag.trim().replace(/\s+/g, "-").toLowerCase());
  const next = ctx.flags.remove === true ? before.filter((tag) => !wanted.includes(tag)) : [...before, ...wanted];
  return change(ctx, id, { tags: next });
}

export async function runBookmark(ctx: CommandContext): Promise<number> {
  const [session, ...more] = ctx.args;
  if (session === undefined || more.length > 0) throw new UsageError("`sessarc mark bookmark` takes a session");
  return change(ctx, session, { bookmarked: ctx.flags.remove !== true });
}

async function change(ctx: CommandContext, session: string, what: MarkChange): Promise<number> {
  const id = await sessionId(ctx, session);
  const body = { ...what, seq: messageFlag(ctx) };
  const mark = await send<Mark | null>(ctx, "PATCH", `/sessions/${encodeURIComponent(id)}/notes`, body);
  if (ctx.json) ctx.answer(mark);
  else ctx.out(printable(mark ? `${toPlace(mark)}: ${toFacts(mark)}` : `${id}: nothing is left`));
  return 0;
}

async function list(ctx: CommandContext, q: string): Promise<number> {
  const tag = typeof ctx.flags.tag === "string" ? ctx.flags.tag : undefined;
  const marks = await ctx.get<ListedMark[]>("/notes", {
    q: q === "" ? undefined : q,
    tag,
    bookmarked: ctx.flags.bookmarked === true ? "1" : undefined,
  });
  if (ctx.json) ctx.answer(marks);
  else if (marks.length === 0)
    ctx.err(q === "" && tag === undefined && ctx.flags.bookmarked !== true ? NO_NOTES : NO_FIT);
  else {
    const columns: Column<ListedMark>[] = [
      { title: "changed", value: ({ updatedAt }) => updatedAt.slice(0, 10) },
      { title: "about", value: (mark) => shown(mark.label ?? `${mark.session} (not archived)`), shrink: true },
      {
        title: "message",
        align: "right",
        value: ({ of, seq }) => (of === "session" ? "" : seq === null ? "gone" : String(seq)),
      },
      { title: "note", value: (mark) => shown(toFacts(mark)), shrink: true, least: 20 },
    ];
    ctx.out(formatTable(columns, marks, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
  }
  return marks.length > 0 ? 0 : 3;
}

const NO_NOTES = "No notes. `sessarc mark note set last …` writes one on the newest session.";
const NO_FIT = "No note fits. `sessarc mark note` lists all.";

async function listTags(ctx: CommandContext): Promise<number> {
  const tags = await ctx.get<{ tag: string; count: number }[]>("/tags");
  if (ctx.json) ctx.answer(tags);
  else if (tags.length === 0) ctx.err("No tags. `sessarc mark tag last review` tags the newest session.");
  else
    ctx.out(
      formatTable<(typeof tags)[number]>(
        [
          { title: "tag", value: ({ tag }) => printable(tag) },
          { title: "used", align: "right", value: ({ count }) => String(count) },
        ],
        tags,
        { head: createStyle(ctx.colour).dim },
      ),
    );
  return tags.length > 0 ? 0 : 3;
}

const toPlace = ({ session, of, seq }: Mark) => (of === "session" ? session : `${session}, message ${seq ?? "gone"}`);

const toFacts = ({ bookmarked, tags, note }: Mark) =>
  [bookmarked ? "★" : "", tags.map((tag) => `#${tag}`).join(" "), note].filter(Boolean).join(" ");

const shown = (text: string) => oneLine(printable(text));
