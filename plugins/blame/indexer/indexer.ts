/** Notes what each call of a session wrote into which file, and what the assistant did for each prompt. */
import type { IndexerModule, SessionEvent } from "sessarc";
import { addedBy } from "./added.ts";
import { type PromptWork, packCalls, packPrompts, type WrittenCall } from "./rows.ts";

const QUARTER_MS = 900_000;
/** Calls that wait for their result at one time; the oldest of more is taken for made. */
const OPEN = 256;
/** Of one session: more files than that are generated output. */
const FILES = 2_000;

interface OpenCall {
  prompt: number;
  name: string;
  writes: [path: string, call: WrittenCall][];
}

export default {
  create({ tools }) {
    const files = new Map<string, WrittenCall[]>();
    const prompts: PromptWork[] = [];
    const open = new Map<string, OpenCall>();
    let lastId = "";
    /** Name of the tool whose call failed last, and no other was called since. */
    let failed = "";

    const current = (): PromptWork => {
      const last = prompts.at(-1);
      if (last) return last;
      const first = promptAt(-1, null);
      prompts.push(first);
      return first;
    };
    const settle = ({ writes }: OpenCall) => {
      for (const [path, call] of writes) {
        const list = files.get(path);
        if (list) list.push(call);
        else if (files.size < FILES) files.set(path, [call]);
      }
    };
    const onCall = ({ seq, at, tool_name: name = "unknown", tool_use_id: id = "", tool_input }: SessionEvent) => {
      const prompt = current();
      prompt.calls++;
      if (failed === name) prompt.retried++;
      failed = "";
      const role = Object.hasOwn(tools, name) ? tools[name] : undefined;
      const writes = addedBy(role, tool_input).map(({ path, lines, whole, pieces }): OpenCall["writes"][number] => [
        path,
        { seq, at: toMs(at), name, lines: Int32Array.from(lines), whole, pieces },
      ]);
      lastId = id;
      open.set(id, { prompt: prompts.length - 1, name, writes });
      const [oldest] = open;
      if (open.size <= OPEN || !oldest) return;
      open.delete(oldest[0]);
      settle(oldest[1]);
    };
    const onResult = ({ tool_use_id, is_error }: SessionEvent) => {
      const id = tool_use_id ?? lastId;
      const call = open.get(id);
      if (!call) return;
      open.delete(id);
      if (is_error !== true) return settle(call);
      failed = call.name;
      const prompt = prompts[call.prompt];
      if (prompt) prompt.failed++;
    };
    return {
      event(event) {
        const { kind, at, model } = event;
        if (kind === "user") prompts.push(promptAt(event.seq, toMs(at)));
        else if (kind === "tool_result") onResult(event);
        else if (kind !== "note") {
          const prompt = current();
          const ms = toMs(at);
          const quarter = ms === null ? -1 : Math.floor(ms / QUARTER_MS);
          prompt.work.set(quarter, (prompt.work.get(quarter) ?? 0) + 1);
          prompt.model = model ?? prompt.model;
          if (kind === "tool_use") onCall(event);
        }
      },
      finish() {
        // A call whose result never came is taken for made, as everywhere in the archive.
        const all = new Map([...files].map(([path, list]) => [path, [...list]]));
        for (const { writes } of open.values())
          for (const [path, call] of writes) all.set(path, [...(all.get(path) ?? []), call]);
        return {
          blame_file: [...all].map(([path, list]) => ({ path, name: toName(path), ...packCalls(list) })),
          blame_session: prompts.length > 0 ? [{ prompts: packPrompts(prompts) }] : [],
        };
      },
    };
  },
} satisfies IndexerModule;

const promptAt = (seq: number, at: number | null): PromptWork => ({
  ...{ seq, at, model: null, calls: 0, failed: 0, retried: 0 },
  work: new Map(),
});

/** The last part of a path, as both kinds of slashes divide it. */
const toName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

function toMs(at: string | undefined): number | null {
  const ms = Date.parse(at ?? "");
  return Number.isNaN(ms) ? null : ms;
}
