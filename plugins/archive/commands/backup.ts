import { open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isAlive } from "sessarc/files";
import { accepted, type CommandContext, formatBytes, printable, UsageError } from "sessarc/terminal";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...rest] = ctx.args;
  if (rest.length > 0) throw new UsageError("Name one file: `sessarc backup [file]`");
  const path = resolve(ctx.cwd, wanted ?? `sessarc-${new Date().toISOString().slice(0, 10)}.tar`);
  const response = await accepted(await ctx.fetch("/backup", { signal: ctx.signal }));
  const bytes = await writeWhole(path, response);
  if (ctx.json) ctx.out(JSON.stringify({ path, bytes }));
  else ctx.out(`${printable(path)} (${formatBytes(bytes)})`);
  ctx.err("It holds the whole archive, the hub's credentials included: keep it as safe as the archive.");
  ctx.err(`To use it: tar xf ${printable(basename(path))} -C <empty folder>, then sessarc --data-dir <that folder>`);
  return 0;
}

/** The temporary file beside the target, named by machine and process. */
const OWN = `.~sessarc-backup-${hostname().replace(/[^\w-]/g, "_")}-`;

/** Takes away what a backup left that was killed. */
async function sweep(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const pid = name.startsWith(OWN) && name.endsWith(".tmp") ? Number(name.slice(OWN.length, -4)) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(dir, name), { force: true });
  }
}

/**
 * Not `writeFileAtomic`: the folder is the user's, and the name of the temporary file lets the next backup remove what a killed one left.
 * The file is there whole or not at all, and no other user may read it. An existing one is replaced only by a whole one.
 */
async function writeWhole(path: string, response: Response): Promise<number> {
  await sweep(dirname(path));
  const temp = join(dirname(path), `${OWN}${process.pid}.tmp`);
  let bytes = 0;
  try {
    const file = await open(temp, "w", 0o600);
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
