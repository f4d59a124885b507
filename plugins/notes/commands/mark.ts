/** `sessarc mark note|tag|bookmark|search`. */
import { type CommandContext, UsageError } from "sessarc/terminal";
import { runBookmark, runNote, runTag } from "./marks.ts";

/** Flags of each verb; `message` is of all but `search`. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  note: ["message", "tag", "bookmarked"],
  tag: ["message", "remove"],
  bookmark: ["message", "remove"],
  search: ["limit"],
};
const OWN = ["message", "tag", "bookmarked", "remove", "limit"];

export async function run(ctx: CommandContext): Promise<number> {
  const [verb = "note", ...args] = ctx.args;
  const wrong = OWN.find((flag) => ctx.flags[flag] !== undefined && !FLAGS[verb]?.includes(flag));
  if (wrong !== undefined) throw new UsageError(`\`sessarc mark ${verb}\` takes no --${wrong}`);
  const own = { ...ctx, args };
  if (verb === "search") return (await import("./searches.ts")).run(own);
  return verb === "tag" ? runTag(own) : verb === "bookmark" ? runBookmark(own) : runNote(own);
}
