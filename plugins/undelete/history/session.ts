/** What one session showed of files: goes through its messages once. */
import { BoundedMap, type Kernel, type Services, type SessionEvent } from "sessarc";
import { type Adapter, pathsIn, type ToolAction, toolActions, wholeRead } from "sessarc/adapter";
import { isGone } from "sessarc/files";
import type { StoredFile } from "../contract.ts";
import { type Harm, readHarm } from "../shell/harm.ts";
import { isBelow, toFull } from "../shell/paths.ts";
import { type Doc, edited, onlyNew, overlay, textOf, wholeDoc } from "../text/doc.ts";
import { numberedRead, plainRead, writtenText } from "../text/read.ts";
import { readCopy } from "./copy.ts";
import type { FileVersion, SessionOf, Source } from "./version.ts";

type Archived = Awaited<ReturnType<Services["archive"]["get"]>>;

/** A call that may have destroyed files, at its place among the versions. */
export interface HarmDone extends Harm {
  at: string | null;
  seq: number;
  command: string | null;
}

export interface SessionTake {
  version(version: FileVersion): void;
  harm?(harm: HarmDone): void;
}

const CALLS = 256;
/** A longer text is not followed. */
const MOST_TEXT = 32 * 2 ** 20;

/** `isWanted`: an absolute path with forward slashes. Linear in the messages. */
export async function readSession(
  kernel: Kernel,
  session: Archived,
  isWanted: (path: string) => boolean,
  take: SessionTake,
): Promise<void> {
  const archive = kernel.inject("archive");
  const adapter = archive.adapter(session.tool);
  const stored = await readStored(kernel, session, adapter, isWanted);
  const reader = createReader(kernel, session, adapter, stored, isWanted, take);
  for (const copy of stored?.copies ?? []) take.version(copy);
  for await (const events of archive.events(session)) for (const event of events) await reader.event(event);
}

interface Stored {
  copies: FileVersion[];
  before: Map<string, { path: string; text: string }[]>;
  changed: { path: string; at: string }[];
}

/** Undefined where the assistant stores nothing, or its log is gone. */
async function readStored(
  kernel: Kernel,
  session: Archived,
  adapter: Adapter | undefined,
  isWanted: (path: string) => boolean,
): Promise<Stored | undefined> {
  if (!adapter?.files?.stored) return undefined;
  let files: StoredFile[];
  try {
    files = await adapter.files.stored(kernel.inject("archive").ref(session), kernel.env, (path) => {
      const full = toFull(path, session.cwd);
      return full !== undefined && isWanted(full);
    });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  const stored: Stored = { copies: [], before: new Map(), changed: [] };
  for (const file of files) {
    const path = toFull(file.path, session.cwd);
    if (path === undefined) continue;
    if (file.kind === "changed") stored.changed.push({ path, at: file.at });
    else if (file.kind === "before") {
      const list = stored.before.get(file.call) ?? [];
      list.push({ path, text: file.text.replace(/\r\n/g, "\n") });
      stored.before.set(file.call, list);
    } else {
      const of = { path, at: file.at, session: toSessionOf(session), seq: null, commit: null, doc: null, seen: null };
      const place = file.stored;
      if (place === null) stored.copies.push({ ...of, source: "gone", load: null, mode: null });
      else {
        const copy = await readCopy(place);
        if (copy) stored.copies.push({ ...of, source: "copy", load: copy.load, mode: copy.mode });
      }
    }
  }
  return stored;
}

export const toSessionOf = ({ id, tool, name, title, firstPrompt }: Archived): SessionOf => ({
  ...{ id, tool, title: name ?? title ?? firstPrompt },
});

function createReader(
  kernel: Kernel,
  session: Archived,
  adapter: Adapter | undefined,
  stored: Stored | undefined,
  isWanted: (path: string) => boolean,
  take: SessionTake,
) {
  const calls = new BoundedMap<string, SessionEvent>(CALLS);
  const docs = new Map<string, Doc>();
  const of = toSessionOf(session);
  const checks = adapter?.files?.checksEdits === true && stored !== undefined;
  let changes = 0;
  let last: string | null = null;

  const full = (path: string): string | undefined => {
    const found = toFull(path, session.cwd);
    return found !== undefined && isWanted(found) ? found : undefined;
  };
  const put = (
    path: string,
    source: Source,
    doc: Doc,
    seq: number,
    at: string | null,
    seen: Doc | null = null,
  ): void => {
    docs.set(path, doc);
    if (doc.pieces.some((piece) => "text" in piece) || doc.pieces.length === 0)
      take.version({ path, at, source, session: of, seq, commit: null, doc, seen, load: null, mode: null });
  };
  const remove = (path: string, seq: number, at: string | null): void => {
    docs.delete(path);
    take.version({
      path,
      at,
      source: "gone",
      session: of,
      seq,
      commit: null,
      doc: null,
      seen: null,
      load: null,
      mode: null,
    });
  };

  function edit(path: string, edits: Extract<ToolAction, { do: "edit" }>["edits"], call: SessionEvent): Doc {
    const [first] = edits;
    const found = stored?.before.get(call.tool_use_id ?? "")?.find((one) => one.path === path);
    let doc = found ? wholeDoc(found.text) : docs.get(path);
    // Without a check something else may have changed the file since.
    if (doc && !found && !checks) doc = { ...doc, isChecked: false };
    for (const one of edits) {
      const change = { old: lf(one.old), new: lf(one.new), all: one.all };
      doc = doc ? edited(doc, change) : change.old === "" ? wholeDoc(change.new) : onlyNew(change);
    }
    return doc ?? onlyNew({ old: first?.old ?? "", new: first?.new ?? "" });
  }

  async function apply(action: ToolAction, call: SessionEvent, at: string | null, hasFailed: boolean): Promise<void> {
    const { seq } = call;
    const harm = (path: string, how: string, isGone: boolean) =>
      take.harm?.({ how, path, isGone, kinds: ["all"], at, seq, command: null });
    switch (action.do) {
      case "write": {
        const path = full(action.path);
        if (path === undefined || action.text.length > MOST_TEXT) return;
        harm(path, "write", false);
        return put(path, "write", writtenText(action.text), seq, at);
      }
      case "edit": {
        const path = full(action.path);
        return path === undefined ? undefined : put(path, "edit", edit(path, action.edits, call), seq, at);
      }
      case "delete": {
        const path = full(action.path);
        if (path === undefined) return;
        harm(path, "delete", true);
        return remove(path, seq, at);
      }
      case "move":
        return move(action.from, action.to, seq, at);
      case "insert":
      case "patch":
        return patch(action, seq, at);
      case "command":
        return command(action, seq, at, hasFailed);
      default: {
        // It changed something that the log does not hold.
        const path = action.path === undefined ? undefined : full(action.path);
        if (path !== undefined) docs.delete(path);
      }
    }
  }

  function move(from: string, to: string, seq: number, at: string | null): void {
    const [source, target] = [toFull(from, session.cwd), toFull(to, session.cwd)];
    if (source === undefined || target === undefined) return;
    for (const [path, doc] of [...docs]) {
      if (!isBelow(path, source)) continue;
      const next = target + path.slice(source.length);
      remove(path, seq, at);
      if (isWanted(next)) put(next, "move", { ...doc, isChecked: false }, seq, at);
    }
    if (isWanted(source) && !docs.has(source)) remove(source, seq, at);
  }

  /** A patch changes known texts; of a text that is not known only what it adds whole is. */
  async function patch(action: Extract<ToolAction, { do: "insert" | "patch" }>, seq: number, at: string | null) {
    const named = action.do === "patch" ? pathsIn(action.text, "patch") : [action.path];
    const places = new Map(named.map((path) => [path, full(path)]));
    const after = await kernel
      .find("replay")
      ?.effect([action], async (path) => {
        const place = places.get(path) ?? full(path);
        const doc = place === undefined ? undefined : docs.get(place);
        const text = doc && textOf(doc);
        return text === undefined ? null : Buffer.from(text);
      })
      .catch(() => undefined);
    if (!after) {
      for (const place of places.values()) if (place !== undefined) docs.delete(place);
      return;
    }
    for (const { path, after: bytes } of after) {
      const place = full(path);
      if (place === undefined) continue;
      const isNew = !docs.has(place);
      if (bytes === null) {
        take.harm?.({ how: "delete", path: place, isGone: true, kinds: ["all"], at, seq, command: null });
        remove(place, seq, at);
      } else put(place, "edit", { ...wholeDoc(lf(bytes.toString("utf8"))), isChecked: isNew }, seq, at);
    }
  }

  async function command(
    action: Extract<ToolAction, { do: "command" }>,
    seq: number,
    at: string | null,
    hasFailed: boolean,
  ) {
    const { command: line } = action;
    const text = typeof line === "string" ? line : line.join(" ");
    const commands =
      typeof line === "string"
        ? await kernel.find("guard")?.commands(line)
        : [{ words: line.map((word) => ({ text: word, isPlain: true, isPattern: false })) }];
    const cwd = action.cwd === undefined ? session.cwd : (toFull(action.cwd, session.cwd) ?? session.cwd);
    const { harms, moves } = readHarm(commands ?? [], cwd);
    for (const harm of harms) take.harm?.({ ...harm, at, seq, command: text.slice(0, 500) });
    if (hasFailed) return;
    for (const harm of harms) {
      if (!harm.isGone) continue;
      for (const path of [...docs.keys()]) if (isBelow(path, harm.path)) remove(path, seq, at);
      if (isWanted(harm.path) && !docs.has(harm.path)) remove(harm.path, seq, at);
    }
    for (const { from, to } of moves) move(from, to, seq, at);
  }

  function read(call: SessionEvent, result: SessionEvent, at: string | null): void {
    const asked = { name: call.tool_name ?? "", input: call.tool_input };
    const role = adapter?.tools?.[asked.name];
    const given = { text: result.text, failed: false };
    const name = role === "read" ? pathsIn(call.tool_input)[0] : undefined;
    const numbered =
      name === undefined ? undefined : numberedRead(result.text, call.tool_input, adapter?.files?.showsEnd === true);
    const whole = numbered ? undefined : (adapter?.replay?.read?.(asked, given) ?? wholeRead(asked, role, given));
    const path = full(numbered ? (name ?? "") : (whole?.path ?? ""));
    let doc = numbered ?? (whole ? plainRead(whole.text) : undefined);
    if (path === undefined || !doc) return;
    // A text that was cut at the storage limit does not show its end.
    if (result.truncated) doc = { ...doc, pieces: [...doc.pieces, { hole: null }] };
    const all = overlay(docs.get(path), doc);
    put(path, "read", all, call.seq, at, all.isChecked ? null : doc);
  }

  return {
    async event(event: SessionEvent): Promise<void> {
      last = event.at ?? last;
      while (stored && changes < stored.changed.length && (stored.changed[changes]?.at ?? "") <= (last ?? "")) {
        docs.delete(stored.changed[changes]?.path ?? "");
        changes++;
      }
      if (event.kind === "tool_use" && event.tool_use_id !== undefined) calls.set(event.tool_use_id, event);
      if (event.kind !== "tool_result" || event.tool_use_id === undefined) return;
      const call = calls.use(event.tool_use_id);
      calls.delete(event.tool_use_id);
      if (!call) return;
      const asked = { name: call.tool_name ?? "", input: call.tool_input };
      const actions = adapter?.replay?.actions?.(asked) ?? toolActions(adapter?.tools?.[asked.name], asked.input) ?? [];
      // A command that failed may have done a part of its work.
      const done = event.is_error === true ? actions.filter((action) => action.do === "command") : actions;
      for (const action of done) await apply(action, call, last, event.is_error === true);
      if (event.is_error !== true) read(call, event, last);
    },
  };
}

const lf = (text: string): string => text.replace(/\r\n/g, "\n");
