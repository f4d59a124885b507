/** `sessarc mcp scan|takeover|restore`: the tools' configuration files. */
import { sep } from "node:path";
import { ApiError, type CommandContext, createStyle, formatTable, printable, send, UsageError } from "sessarc/terminal";
import type { WireBackup, WireDiff, WireScan, WireScanEntry } from "../routes/config-wire.ts";

interface TakeoverAnswer {
  imported: { key: string; service: string; action: string }[];
  backups: { id: string; file: string }[];
  diffs: WireDiff[];
}

const textFlag = (ctx: CommandContext, name: string) => {
  const value = ctx.flags[name];
  return typeof value === "string" ? value : undefined;
};

const scanned = (ctx: CommandContext) => ctx.get<WireScan>("/mcp/scan");

export async function scan(ctx: CommandContext): Promise<number> {
  const found = await scanned(ctx);
  if (ctx.json) ctx.out(JSON.stringify(found));
  else {
    const { entries, managed, problems } = found;
    if (entries.length + managed.length === 0) ctx.err("No assistant's settings name a server.");
    if (entries.length > 0)
      ctx.out(
        formatTable(
          [
            { title: "server", value: ({ name }) => printable(name) },
            { title: "state", value: (entry) => toState(entry).toLowerCase() },
            {
              title: "where",
              value: ({ config }) => printable(config.url ?? [config.command ?? "", ...config.args].join(" ")),
              shrink: true,
            },
            { title: "file", value: ({ file }) => printable(fromHome(ctx, file)), shrink: true, least: 24 },
          ],
          entries,
          { head: createStyle(ctx.colour).dim, width: ctx.columns },
        ),
      );
    for (const { name, reasons } of entries)
      for (const reason of reasons) ctx.err(`${printable(name)} has to stay: ${printable(reason)}`);
    for (const { file, current } of managed)
      ctx.out(
        `${printable(file)} leads here already${current ? "" : ", but not to where the service listens now: sessarc mcp takeover --all"}`,
      );
    for (const { reason } of problems) ctx.err(printable(reason));
  }
  return found.entries.length + found.managed.length > 0 ? 0 : 3;
}

/** `~/.claude.json`: what is cut off a path at the end is what tells one from another. */
const fromHome = ({ env: { home } }: CommandContext, path: string): string =>
  path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;

function toState({ class: of, conflict, duplicateOf, hubEdited }: WireScanEntry): string {
  if (conflict) return `${of} (${conflict})`;
  if (duplicateOf !== null) return `${of} (as another)`;
  return hubEdited ? `${of} (edited here)` : of;
}

/** Another program may write a file between the two requests: then both are made again. */
const TRIES = 3;

export async function takeover(ctx: CommandContext, names: readonly string[]): Promise<number> {
  if ((names.length === 0) === (ctx.flags.all !== true))
    throw new UsageError("`sessarc mcp takeover` takes the names of servers, or --all");
  for (let left = TRIES; ; left--) {
    try {
      return await takeoverOnce(ctx, names);
    } catch (error) {
      if (left <= 1 || !(error instanceof ApiError) || error.code !== "MCP_CONFIG_CHANGED") throw error;
    }
  }
}

async function takeoverOnce(ctx: CommandContext, names: readonly string[]): Promise<number> {
  const resolutions = readResolutions(ctx.flags.resolve);
  const { entries, managed } = await scanned(ctx);
  const mode = textFlag(ctx, "mode") ?? "replace";
  const stale = ctx.flags.all === true && mode !== "import" ? managed.filter(({ current }) => !current) : [];
  const chosen = entries.filter(({ name }) => ctx.flags.all === true || names.includes(name));
  const missing = names.filter((name) => !chosen.some((entry) => entry.name === name));
  if (missing.length > 0)
    throw new UsageError(
      `No assistant has a server ${missing.map(printable).join(", ")}; \`sessarc mcp scan\` lists them`,
    );
  const isOpen = ({ class: of, name }: WireScanEntry) => of === "Conflict" && !resolutions.has(name);
  const ready = chosen.filter((entry) => entry.importable && !isOpen(entry));
  for (const entry of chosen) if (!ready.includes(entry)) ctx.err(whyLeft(entry));
  if (ready.length + stale.length === 0) {
    if (ctx.json)
      ctx.out(JSON.stringify({ dryRun: ctx.flags["dry-run"] === true, imported: [], backups: [], diffs: [] }));
    else if (chosen.length === 0)
      ctx.err(
        managed.length > 0
          ? "Nothing to take over: the tools' files lead here already."
          : "Nothing to take over: no tool's file names a server.",
      );
    return chosen.length > 0 ? 1 : 3;
  }
  const dryRun = ctx.flags["dry-run"] === true;
  const answer = await send<TakeoverAnswer>(ctx, "POST", "/mcp/takeover", {
    entries: [
      ...ready.map(({ key, name }) => ({ key, resolution: resolutions.get(name) ?? "import" })),
      ...stale.map(({ key }) => ({ key })),
    ],
    fileHashes: Object.fromEntries([...ready, ...stale].map(({ file, fileHash }) => [file, fileHash])),
    mode,
    dryRun,
  });
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    showDiffs(ctx, answer.diffs);
    const services = [...new Set(answer.imported.map(({ service }) => service))].map((id) => printable(id)).join(", ");
    if (dryRun) ctx.out(`Nothing was changed. Services would be: ${services}`);
    else if (services !== "") ctx.out(`Taken over: ${services}`);
    if (!dryRun) for (const { file } of stale) ctx.out(`Leads to where the service listens now: ${printable(file)}`);
    const [first] = answer.backups;
    if (first) ctx.out(`Put back with: sessarc mcp restore ${first.id.replace(/-\d+$/, "")}`);
  }
  return ready.length < chosen.length ? 1 : 0;
}

function whyLeft({ name, importable, reasons, conflict }: WireScanEntry): string {
  const own = printable(name);
  return importable
    ? `${own} is left: it is in conflict (${conflict}). Say --resolve ${own}=keepHub, =takeSource or =rename:<name>`
    : `${own} is left: ${printable(reasons.join("; "))}`;
}

function readResolutions(flag: CommandContext["flags"][string]): Map<string, string> {
  const pairs = Array.isArray(flag) ? flag.map(String) : [];
  return new Map(
    pairs.map((pair) => {
      const [, name, resolution] = /^(.*)=(keepHub|takeSource|rename:.+)$/s.exec(pair) ?? [];
      if (name === undefined || resolution === undefined)
        throw new UsageError("--resolve takes <server>=keepHub, =takeSource or =rename:<name>");
      return [name, resolution];
    }),
  );
}

export async function restore(ctx: CommandContext, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return listBackups(ctx);
  if (ctx.flags.delete === true) return forget(ctx, ids);
  const [dryRun, merge] = [ctx.flags["dry-run"] === true, textFlag(ctx, "mode") === "merge"];
  const answer = await send<{ restored: { file: string }[]; diffs: WireDiff[] }>(ctx, "POST", "/mcp/restore", {
    ids,
    merge,
    dryRun,
  });
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    showDiffs(ctx, answer.diffs);
    const files = answer.restored.map(({ file }) => printable(file)).join(", ");
    if (files === "") ctx.out("Nothing to do: the files are as they were");
    else ctx.out(dryRun ? `Nothing was changed. Would be put back: ${files}` : `Put back: ${files}`);
  }
  return 0;
}

async function forget(ctx: CommandContext, ids: readonly string[]): Promise<number> {
  for (const id of ids) await send(ctx, "DELETE", `/mcp/backups/${encodeURIComponent(id)}`);
  if (ctx.json) ctx.out(JSON.stringify({ removed: ids }));
  else ctx.out(`Thrown away: ${ids.map((id) => printable(id)).join(", ")}. The files stay as they are.`);
  return 0;
}

async function listBackups(ctx: CommandContext): Promise<number> {
  const { backups } = await ctx.get<{ backups: WireBackup[] }>("/mcp/backups");
  if (ctx.json) ctx.out(JSON.stringify({ backups }));
  else if (backups.length === 0) ctx.err("No takeover can be restored: there is none.");
  else
    ctx.out(
      formatTable(
        [
          { title: "takeover", value: ({ takeover: of }) => of },
          { title: "backup", value: ({ id }) => id },
          { title: "made", value: ({ at }) => at.slice(0, 16).replace("T", " ") },
          { title: "state", value: ({ state }) => state },
          { title: "file", value: ({ file }) => printable(file), shrink: true },
        ],
        backups,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  return backups.length > 0 ? 0 : 3;
}

function showDiffs(ctx: CommandContext, diffs: readonly WireDiff[]): void {
  const style = createStyle(ctx.colour);
  for (const { file, diff } of diffs) {
    ctx.out(style.bold(printable(file)));
    for (const line of diff.split("\n")) {
      const shown = printable(line);
      ctx.out(line.startsWith("+") ? style.green(shown) : line.startsWith("-") ? style.red(shown) : style.dim(shown));
    }
  }
}
