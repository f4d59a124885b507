import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { writeFileAtomic } from "sessarc/files";
import { type CommandContext, isRedacted, printable, UsageError } from "sessarc/terminal";
import type { Format } from "../export/job.ts";
import type { DocumentSession } from "../export/sessions.ts";
import { plain, redacted } from "./_document.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.flags.all === true) return (await import("./export-all.ts")).exportAll(ctx);
  if (ctx.flags.to !== undefined)
    throw new UsageError("--to is the folder of --all; one session goes into a file: -o <file>");
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

/** The file is there whole or not at all, and no other user may read it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFileAtomic(path, text).catch((error: unknown) => {
    // The file asked for is what the user knows, not the one beside it.
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  });
}
