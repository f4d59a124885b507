/** A chat product's export, imported once: its folder is read for as long as that takes. */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { toRecord } from "sessarc";
import { readList } from "sessarc/adapter";
import { ApiError, accepted, type CommandContext, UsageError } from "sessarc/terminal";

/** Runs `work` with the tool that reads the export `file`. Throws UsageError for what is not one. */
export async function withExport<T>(ctx: CommandContext, file: string, work: (tool: string) => Promise<T>): Promise<T> {
  const path = await exportIn(resolve(ctx.cwd, file), file);
  const tool = await findProduct(path);
  if (tool === undefined || !EXPORT.test(basename(path)))
    throw new UsageError(
      `${file} is not an export of ChatGPT or Claude.ai: choose the conversations.json of its zip file`,
    );
  const added = await addFolder(ctx, tool, dirname(path));
  try {
    return await work(tool);
  } finally {
    if (added) {
      const query = new URLSearchParams({ tool, path: dirname(path) });
      await accepted(await ctx.fetch(`/sources?${query}`, { method: "DELETE" }));
    }
  }
}

/** The export at a path: the file itself, or what is in the folder. Not opened before it is known to be a file: a pipe waits for its writer. */
async function exportIn(place: string, named: string): Promise<string> {
  const path = await realpath(place).catch(() => {
    throw new UsageError(`There is no file ${named}`);
  });
  const info = await stat(path);
  if (info.isFile()) return path;
  if (!info.isDirectory()) throw new UsageError(`${named} is not a file, but a pipe, a socket or a device`);
  const [first] = (await readdir(path)).filter((name) => EXPORT.test(name)).sort();
  if (first === undefined)
    throw new UsageError(`The folder ${named} has no conversations.json: unpack the zip file of the export into it`);
  return exportIn(join(path, first), join(named, first));
}

const EXPORT = /^conversations(?:-\d+)?\.json$/;

/** By the first conversation. */
async function findProduct(path: string): Promise<string | undefined> {
  for await (const { value } of readList(path)) {
    const conversation = toRecord(value);
    if (conversation.mapping !== undefined) return "chatgpt";
    return conversation.chat_messages === undefined ? undefined : "claude-ai";
  }
  return undefined;
}

/** Whether it was added: a folder that the user reads anyway stays. */
async function addFolder(ctx: CommandContext, tool: string, path: string): Promise<boolean> {
  try {
    const headers = { "content-type": "application/json" };
    await accepted(await ctx.fetch("/sources", { method: "POST", headers, body: JSON.stringify({ tool, path }) }));
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "FOLDER_KNOWN") return false;
    throw error;
  }
}
