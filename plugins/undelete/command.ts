/** `sessarc undelete`. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type Column,
  type CommandContext,
  createStyle,
  formatBytes,
  formatTable,
  printable,
  send,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import type { VersionView } from "./history/content.ts";
import type { LostFile } from "./history/lost.ts";
import type { NetCatch } from "./net/store.ts";
import type { FileAtVersion, FileHistory, PutBack } from "./service.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const { list, to, session, undo, force } = ctx.flags;
  const at = text(ctx.flags.at);
  const output = text(ctx.flags.output);
  const isInPlace = ctx.flags["in-place"] === true;
  const [named, ...more] = ctx.args;
  if (ctx.flags.net === true) return runNet(ctx);
  const subjects = [named, session, undo].filter((one) => one !== undefined);
  if (more.length > 0 || subjects.length !== 1)
    throw new UsageError("Name one file or folder, or pass --session or --undo");
  if (isInPlace && to !== undefined) throw new UsageError("--to and --in-place exclude each other");
  if (force === true && !isInPlace) throw new UsageError("--force needs --in-place");
  if (typeof undo === "string") return takeBack(ctx, undo);
  const target = text(to) === undefined ? undefined : resolve(ctx.cwd, text(to) ?? "");
  if (typeof session === "string") {
    const found = await ctx.get<{ session: { id: string } }>("/sessions/find", { name: session });
    if (target !== undefined || isInPlace)
      return putBack(ctx, { session: found.session.id, to: target, force: force === true });
    return showLost(ctx, found.session.id);
  }
  const path = resolve(ctx.cwd, named ?? "");
  if (target !== undefined || isInPlace) return putBack(ctx, { path, at, to: target, force: force === true });
  return list === true ? showVersions(ctx, path) : show(ctx, path, at, output);
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

async function showVersions(ctx: CommandContext, path: string): Promise<number> {
  const history = await ctx.get<FileHistory>("/files/history", { path }, ctx.signal);
  if (ctx.json) ctx.answer(history);
  else if (history.versions.length === 0) ctx.err("No session and no commit has a version of it.");
  else {
    const isOne = history.versions.every((version) => version.path === history.path);
    const columns: Column<VersionView>[] = [
      { title: "when", value: ({ at }) => toMinute(at) },
      { title: "what", value: ({ source }) => source },
      { title: "state", value: toState },
      ...(isOne
        ? []
        : [{ title: "file", value: ({ path: file }: VersionView) => printable(file), shrink: true, least: 20 }]),
      ...(ctx.columns === undefined || ctx.columns >= WIDE
        ? [{ title: "session or commit", value: ({ title }: VersionView) => printable(title ?? ""), shrink: true }]
        : []),
      { title: "--at", value: toPlace(history.versions) },
    ];
    ctx.out(formatTable(columns, history.versions, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
    if (history.isCut) ctx.err(`These are the newest ${history.versions.length}.`);
  }
  return history.versions.length > 0 ? 0 : 3;
}

/** Columns from which the title of the session has room. */
const WIDE = 120;

/** `2026-11-21 14:33` of an ISO time. */
const toMinute = (at: string | null): string => at?.slice(0, 16).replace("T", " ") ?? "";

/** As short as `--at` takes it. */
function toPlace(versions: readonly VersionView[]) {
  const ids = toShortIds(versions.flatMap(({ sessionId }) => sessionId ?? []));
  return ({ id, sessionId, seq, commit }: VersionView): string =>
    commit?.slice(0, 10) ?? (sessionId === null || seq === null ? printable(id) : `${ids.get(sessionId)}#${seq}`);
}

const toState = ({ state, isAssumed }: VersionView): string => (isAssumed ? `${state}, assumed` : state);

async function show(ctx: CommandContext, path: string, at: string | undefined, output: string | undefined) {
  const version = await ctx.get<FileAtVersion>("/files/at", { path, at }, ctx.signal);
  const bytes = version.base64 === null ? Buffer.from(version.text ?? "") : Buffer.from(version.base64, "base64");
  if (output !== undefined) {
    const file = resolve(ctx.cwd, output);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes, { flag: "wx", mode: version.mode ?? 0o644 }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? new UsageError(`${printable(output)} is there already`) : error;
    });
  }
  if (ctx.json) ctx.answer(version);
  else if (output === undefined) {
    if (version.text === null) ctx.err("The file is not text: -o writes it into a file.");
    else ctx.out(version.text.replace(/\n$/, ""));
  }
  if (!ctx.json) ctx.err(toNote(version));
  return 0;
}

function toNote(version: VersionView): string {
  const facts = [`${version.source} ${version.id}`, version.at, toState(version)];
  for (const { from, to } of version.holes)
    facts.push(from === null ? "a hole" : to === null ? `unknown from line ${from}` : `lines ${from} to ${to} unknown`);
  if (version.isAssumed)
    facts.push(
      version.seen?.from == null
        ? "nothing shows that the rest was unchanged"
        : `only lines ${version.seen.from} to ${version.seen.to} were seen now`,
    );
  return printable(facts.filter(Boolean).join(" · "));
}

async function showLost(ctx: CommandContext, id: string): Promise<number> {
  const lost = await ctx.get<LostFile[]>(`/sessions/${encodeURIComponent(id)}/lost-files`, {}, ctx.signal);
  if (ctx.json) ctx.answer(lost);
  else if (lost.length === 0)
    ctx.err("Nothing is known to be lost: what this session deleted or overwrote is on the disk or in git.");
  else {
    const columns: Column<LostFile>[] = [
      { title: "file", value: ({ path }) => printable(path) },
      { title: "by", value: ({ how, seq }) => `${how} #${seq}` },
      { title: "can be had", value: ({ version }) => toState(version) },
      { title: "at", value: ({ version }) => printable(version.id) },
    ];
    ctx.out(formatTable(columns, lost, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
    ctx.err("`sessarc undelete --session <id> --to <folder>` puts them into a new folder.");
  }
  return lost.length > 0 ? 0 : 3;
}

async function putBack(ctx: CommandContext, request: object): Promise<number> {
  const done = await send<PutBack>(ctx, "POST", "/files/put-back", request, ctx.signal);
  if (ctx.json) ctx.answer(done);
  else {
    for (const { to, version } of done.files) ctx.out(`${printable(to)}  ${toState(version)}`);
    for (const { path, reason } of done.left) ctx.err(`${printable(path)}: ${reason}`);
    ctx.err(`Receipt ${done.receipt.id}: \`sessarc undelete --undo ${done.receipt.id}\` takes it back.`);
  }
  return done.left.length > 0 ? 1 : 0;
}

/** `undelete --net [call]`. */
async function runNet(ctx: CommandContext): Promise<number> {
  const { force } = ctx.flags;
  const [id, ...more] = ctx.args;
  const to = text(ctx.flags.to);
  const isInPlace = ctx.flags["in-place"] === true;
  if (more.length > 0) throw new UsageError("--net takes one call");
  if (isInPlace && to !== undefined) throw new UsageError("--to and --in-place exclude each other");
  if (to !== undefined || isInPlace) {
    if (id === undefined) throw new UsageError("Name the call; `sessarc undelete --net` lists them");
    const target = to === undefined ? undefined : resolve(ctx.cwd, to);
    return putBack(ctx, { net: id, to: target, force: force === true });
  }
  const all = await ctx.get<NetCatch[]>("/files/net", {}, ctx.signal);
  const shown = id === undefined ? all : all.filter((one) => one.id === id);
  if (ctx.json) ctx.answer(shown);
  else if (shown.length === 0)
    ctx.err(id === undefined ? "Nothing was stored before a call." : "No such call is stored.");
  else if (id === undefined) showCalls(ctx, shown);
  else for (const one of shown) showCall(ctx, one);
  return shown.length > 0 ? 0 : 3;
}

function showCalls(ctx: CommandContext, calls: readonly NetCatch[]): void {
  const columns: Column<NetCatch>[] = [
    { title: "when", value: ({ at }) => toMinute(at) },
    { title: "by", value: ({ client, how }) => printable(`${client}: ${how.join(", ")}`) },
    { title: "files", value: ({ files, isPartial }) => `${files.length}${isPartial ? ", in part" : ""}` },
    { title: "call", value: ({ id }) => id },
    { title: "command", value: ({ command, tool }) => printable(command ?? tool) },
  ];
  ctx.out(formatTable(columns, calls, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
  ctx.err("`sessarc undelete --net <call> --to <folder>` puts its files into a new folder.");
}

function showCall(ctx: CommandContext, { files, names, left }: NetCatch): void {
  for (const { path, size, from } of files)
    ctx.out(`${printable(path)}  ${formatBytes(size)}${from ? `  ${from}` : ""}`);
  for (const { name, commit } of names) ctx.out(`${printable(name)}  ${commit}`);
  for (const { path, reason } of left) ctx.err(`not stored: ${printable(path)} ${reason}`);
  if (names.length > 0)
    ctx.err("A branch comes back with `git branch <name> <commit>`, a stash with `git stash apply <commit>`.");
}

async function takeBack(ctx: CommandContext, id: string): Promise<number> {
  const done = await send<{ restored: string[]; removed: string[]; kept: string[] }>(
    ctx,
    "POST",
    "/files/undo",
    { id },
    ctx.signal,
  );
  if (ctx.json) ctx.answer(done);
  else {
    for (const path of done.removed) ctx.out(`removed   ${printable(path)}`);
    for (const path of done.restored) ctx.out(`restored  ${printable(path)}`);
    for (const path of done.kept) ctx.err(`${printable(path)} changed since and is left alone.`);
  }
  return done.kept.length > 0 ? 1 : 0;
}
