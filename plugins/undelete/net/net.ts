/** The net: before a call destroys files that git does not hold, they are stored. */
import { isAbsolute } from "node:path";
import type { Kernel, Services } from "sessarc";
import { pathsIn, type ToolAction, type ToolRole, toolActions } from "sessarc/adapter";
import { codeOf, openRegular } from "sessarc/files";
import { type Harm, type LineHarm, readHarm } from "../shell/harm.ts";
import { toFull } from "../shell/paths.ts";
import { type Found, findFiles } from "./find.ts";
import { findTopFolder, openRepository } from "./repository.ts";
import { createNetStore, type NetCatch, type NetFile, type NetStore } from "./store.ts";

type Guard = Services["guard"];
type Call = Awaited<ReturnType<Guard["check"]>>["call"];

export interface NetLimits {
  /** Milliseconds and bytes that one call may take. */
  ms: number;
  callBytes: number;
  /** Bytes and days in all. */
  bytes: number;
  days: number;
}

export interface Net {
  /** What was stored before the call; undefined for one that destroys nothing. Opens no file and starts no process for such a call. */
  catch(call: Call, role: ToolRole | undefined): Promise<NetCatch | undefined>;
  list: NetStore["list"];
  find: NetStore["find"];
  get: NetStore["get"];
  rewrite: NetStore["rewrite"];
  prune(): Promise<void>;
  close(): Promise<void>;
}

/** Share of a call's time after which git is no longer waited for, and after which no more files are looked for: the rest is for storing them. */
const GIT_SHARE = 0.5;
const FIND_SHARE = 0.7;
const READERS = 8;
const LEFT_LIMIT = 100;
const DESTROYS = /\b(?:rm|unlink|shred|mv|truncate|dd|git|tee)\b|>/;
const STASHES = 3;

export function createNet(kernel: Kernel, limits: NetLimits): Net {
  const store = createNetStore(kernel);
  /** What goes on after the call was answered. */
  let after: Promise<void> = Promise.resolve();
  const later = (work: () => Promise<void>) => {
    after = after
      .then(work)
      .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "undelete net" }));
  };
  const prune = () => store.prune(limits, Date.now());

  return {
    list: store.list,
    find: store.find,
    get: store.get,
    rewrite: store.rewrite,
    prune,
    async catch(call, role) {
      const { harms, names, line } = await readCall(kernel, call, role);
      if (harms.length === 0 && names.length === 0) return undefined;
      const take = createTake(store, limits);
      await take.within(async () => {
        const after = (share: number) => take.ends - (1 - share) * limits.ms;
        await findFiles(harms, { ...take, env: process.env, gitEnds: after(GIT_SHARE), ends: after(FIND_SHARE) });
        for (const { folder } of names) await takeNames(folder, take);
        await take.store();
      });
      const { files, left, isPartial, commits } = take.result();
      if (files.length === 0 && left.length === 0 && commits.length === 0) return undefined;
      const how = [...new Set([...harms, ...names].map((one) => one.how))];
      const command = line === null ? null : (await kernel.inject("rules").hide(line)).slice(0, 500);
      const { client, sessionId, tool_name: tool } = call;
      const of = { at: new Date().toISOString(), client, sessionId, tool, command, how };
      const stored = await store.add({ ...of, files, names: commits, left, isPartial });
      later(store.sync);
      later(prune);
      return stored;
    },
    close: () => after,
  };
}

/** What a call may destroy. Reads the arguments alone. */
async function readCall(
  kernel: Kernel,
  call: Call,
  role: ToolRole | undefined,
): Promise<LineHarm & { line: string | null }> {
  const { tool_input: input, cwd, client, tool_name: name } = call;
  const adapter = kernel.registry.adapters.get(client);
  const shell = role ?? (isCommand(input) ? "shell" : undefined);
  const actions = adapter?.replay?.actions?.({ name, input }) ?? toolActions(shell, input) ?? [];
  const all: LineHarm & { line: string | null } = { harms: [], moves: [], names: [], line: null };
  const add = (how: string, path: string, more: Partial<Harm> = {}) => {
    const full = toFull(path.replace(/^~(?=\/)/, kernel.env.home), cwd);
    if (full !== undefined) all.harms.push({ how, path: full, isGone: false, kinds: ["all"], ...more });
  };
  for (const action of actions)
    if (action.do === "command") {
      const found = await readLine(kernel, action, cwd);
      all.harms.push(...found.harms);
      all.names.push(...found.names);
      all.line = found.line;
    } else if (action.do === "patch") for (const path of pathsIn(action.text, "patch")) add("patch", path);
    else if (action.do === "move") add("move", action.to);
    else if (action.path !== undefined && action.do !== "unknown")
      add(action.do, action.path, action.do === "delete" ? { isGone: true } : {});
  return all;
}

const isCommand = (input: unknown): boolean =>
  typeof input === "object" && input !== null && ("command" in input || "cmd" in input);

async function readLine(
  kernel: Kernel,
  { command, cwd: own }: Extract<ToolAction, { do: "command" }>,
  cwd: string | null,
) {
  const folder = own === undefined ? cwd : (toFull(own, cwd) ?? cwd);
  const { home } = kernel.env;
  const words = typeof command === "string" ? [] : command;
  // `["bash", "-lc", "rm a"]`
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  const inner = /^(?:\S*\/)?(?:ba|z|da|k|fi)?sh$/.test(words[0] ?? "") && at > 0 ? words[at + 1] : undefined;
  const line = typeof command === "string" ? command : (inner ?? words.join(" "));
  const commands =
    typeof command === "string" || inner !== undefined
      ? await kernel.inject("guard").commands(line, { HOME: home, ...(folder !== null && { PWD: folder }) })
      : [{ words: words.map((text) => ({ text, isPlain: true, isPattern: false })) }];
  const isPlaced = folder !== null && isAbsolute(folder);
  const harm = readHarm(commands ?? [], isPlaced ? folder : null, home);
  // Of a line that cannot be read all that may be meant.
  if (commands === undefined && isPlaced && DESTROYS.test(line))
    harm.harms.push({
      how: "a line that cannot be read",
      path: folder,
      isGone: false,
      kinds: ["all"],
      isUnknown: true,
    });
  return { ...harm, line };
}

/** The names of commits in the repository of a folder, and the files of the stashes that are dropped. */
async function takeNames(folder: string, take: Take): Promise<void> {
  const top = await findTopFolder(folder);
  if (top === undefined) return;
  const repository = openRepository(top, { env: process.env, ends: take.ends });
  const names = await repository.names();
  for (const { name, commit } of names) take.commit({ name, commit, folder: top });
  for (const { name, commit } of names.filter((one) => one.name.startsWith("stash@")).slice(0, STASHES))
    for (const file of await repository.stashed(commit)) await take.bytes(file, name);
}

type Take = ReturnType<typeof createTake>;

/** Collects and stores the files of one call within its limits. What is stored when the time is over counts. */
function createTake(store: NetStore, { ms, callBytes }: NetLimits) {
  const ends = performance.now() + ms;
  const waiting: Found[] = [];
  const files: NetFile[] = [];
  const commits: NetCatch["names"] = [];
  const left: NetCatch["left"] = [];
  let isPartial = false;
  let bytesLeft = callBytes;
  let isOver = false;
  const leave = (path: string, reason: string) => {
    if (isOver) return;
    isPartial = true;
    if (left.length < LEFT_LIMIT) left.push({ path, reason });
  };
  async function put(path: string, bytes: Uint8Array, mode: number, from: string | null): Promise<void> {
    const hash = await store.put(bytes);
    if (!isOver) files.push({ path, hash, size: bytes.length, mode, from });
  }
  async function storeOne({ path, size, mode }: Found): Promise<void> {
    if (size > bytesLeft) return leave(path, "is larger than what a call may store");
    bytesLeft -= size;
    try {
      const file = await openRegular(path);
      try {
        await put(path, await file.readFile(), mode, null);
      } finally {
        await file.close();
      }
    } catch (error) {
      leave(path, reasonOf(error));
    }
  }
  return {
    ends,
    found: (file: Found) => void waiting.push(file),
    left: leave,
    commit: (one: NetCatch["names"][number]) => void commits.push(one),
    async bytes({ path, bytes, mode }: { path: string; bytes: Buffer; mode: number }, from: string): Promise<void> {
      if (bytes.length > bytesLeft) return leave(path, "is larger than what a call may store");
      bytesLeft -= bytes.length;
      await put(path, bytes, mode, from).catch((error: unknown) => leave(path, reasonOf(error)));
    },
    /** Stores what was found, the newest first: it is what was worked on. */
    async store(): Promise<void> {
      const list = waiting.sort((a, b) => b.mtimeMs - a.mtimeMs).values();
      const work = async () => {
        for (const file of list) {
          if (performance.now() > ends) leave(file.path, "there was no time for it");
          else await storeOne(file);
        }
      };
      await Promise.all(Array.from({ length: READERS }, work));
    },
    /** A disk that does not answer holds nothing up. */
    async within(work: () => Promise<void>): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<"over">((resolve) => {
        timer = setTimeout(() => resolve("over"), Math.max(0, ends - performance.now()));
      });
      const done = await Promise.race([work(), over]);
      clearTimeout(timer);
      if (done === "over") {
        const stored = new Set(files.map(({ path }) => path));
        const missing = waiting.filter(({ path }) => !stored.has(path));
        for (const { path } of missing) leave(path, "there was no time for it");
        if (missing.length === 0) leave("", "the disk or git did not answer in time");
      }
      isOver = true;
    },
    result: () => ({ files: [...files], commits, left, isPartial }),
  };
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === "EACCES" || code === "EPERM") return "cannot be read";
  if (code === "ENOSPC" || code === "EDQUOT") return "the disk is full";
  if (code === "ENOENT") return "is gone";
  return code === "" ? "cannot be stored" : code;
}
