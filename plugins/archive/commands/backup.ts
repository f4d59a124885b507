import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { accepted, type CommandContext, formatBytes, printable, tempName, UsageError } from "sessarc";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...rest] = ctx.args;
  if (rest.length > 0) throw new UsageError("Name one file: `sessarc backup [file]`");
  const path = resolve(wanted ?? `sessarc-${new Date().toISOString().slice(0, 10)}.tar`);
  const response = await accepted(await ctx.fetch("/backup", { signal: ctx.signal }));
  const bytes = await writeWhole(path, response);
  if (ctx.json) ctx.out(JSON.stringify({ path, bytes }));
  else ctx.out(`${printable(path)} (${formatBytes(bytes)})`);
  ctx.err("It holds everything the archive holds, credentials of the hub among it: keep it as safe.");
  ctx.err(`To use it: tar xf ${printable(basename(path))} -C <empty folder>, then sessarc --data-dir <that folder>`);
  return 0;
}

/** The file is there whole or not at all, and nobody else may read it. An existing one is replaced only by a whole one. */
async function writeWhole(path: string, response: Response): Promise<number> {
  const temp = join(dirname(path), tempName());
  let bytes = 0;
  try {
    const file = await open(temp, "wx", 0o600);
    try {
      for await (const piece of response.body ?? []) {
        await file.write(piece);
        bytes += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temp, path);
    return bytes;
  } catch (error) {
    await rm(temp, { force: true });
    // The file asked for is what the user knows, not the one beside it.
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  }
}
