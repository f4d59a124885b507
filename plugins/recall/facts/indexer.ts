/** Finds the facts of one session: what failed, what fixed it, what the user corrected, what was decided. Constant work an event. */
import { BoundedMap, type IndexerModule, type Json, type SessionEvent } from "sessarc";
import { pathsIn, type ToolRole, toCommand } from "sessarc/adapter";
import { baseOf, normalizeCommand } from "./command.ts";
import type { FactKind } from "./contract.ts";
import { findCorrection, findDecision } from "./statements.ts";
import { clipLine, plainLine, tellingLine } from "./text.ts";

/** Calls that wait for their result. */
const OPEN = 256;
/** Families whose last call failed. */
const FAILING = 64;
/** Facts of one kind in a session: the newest. */
const MOST = 40;
const FILES = 8;
/** Commands between a failure and its fix. */
const STEPS = 3;

const CHANGES: ReadonlySet<ToolRole> = new Set(["edit", "write", "patch", "delete", "move"]);
/** What they do not find is no failure of the work. */
const LOOKS: ReadonlySet<ToolRole> = new Set(["read", "search", "fetch", "todo", "agent"]);
/** The user said no before the call ran; some assistants then quote the user's words. */
const REFUSED =
  /doesn['’]t want to (?:proceed|take this action)|rejected by (?:the )?user|user (?:rejected|declined|denied|cancel)|request interrupted|operation was aborted/i;
const USER_SAID = /\bthe user said:\s*([\s\S]+)/i;

interface OpenCall {
  seq: number;
  at: string | undefined;
  tool: string;
  role: ToolRole | undefined;
  input: Json | undefined;
}
interface Failing {
  seq: number;
  /** Its row, so that the fix is entered there. */
  row: FactRow;
  files: Set<string>;
  steps: string[];
}
/** A row of `recall_facts`, with its files still apart. */
interface FactRow {
  seq: number;
  kind: FactKind;
  at: number | null;
  subject: string;
  family: string;
  command: string;
  text: string;
  files: string[];
  other: number | null;
  count: number;
}

export default {
  create({ tools }) {
    const open = new BoundedMap<string, OpenCall>(OPEN);
    const failing = new BoundedMap<string, Failing>(FAILING);
    const rows = new Map<FactKind, FactRow[]>();
    let edited = new Set<string>();
    let worked = false;
    let lastId = "";

    const add = (row: FactRow): FactRow => {
      const list = rows.get(row.kind) ?? [];
      rows.set(row.kind, list);
      list.push(row);
      if (list.length > MOST) list.shift();
      return row;
    };
    const say = (kind: "corrected" | "decided", { seq, at }: SessionEvent, text: string) =>
      add({
        ...{ seq, kind, at: toMs(at), text, files: [...edited].slice(-FILES) },
        ...{ subject: "", family: "", command: "", other: null, count: 1 },
      });

    const onFailure = (call: OpenCall, text: string, run: Run) => {
      const { subject, family, command } = run;
      const error = tellingLine(text);
      const before = failing.get(family);
      if (before?.row.subject === subject && before.row.text === error) {
        before.row.count++;
        before.seq = call.seq;
        return;
      }
      const row = add({
        ...{ seq: call.seq, kind: "failed", at: toMs(call.at), subject, family, command, text: error },
        ...{ files: toFiles([...pathsIn(call.input, call.role), ...edited]), other: null, count: 1 },
      });
      failing.set(family, { seq: call.seq, row, files: before?.files ?? new Set(), steps: before?.steps ?? [] });
    };
    const onSuccess = (call: OpenCall, run: Run) => {
      const { subject, family, command } = run;
      const fixed = failing.get(family);
      if (!fixed) {
        if (call.role !== "shell") return;
        for (const one of failing.values()) {
          if (one.steps.length === STEPS) one.steps.shift();
          one.steps.push(clipLine(command, 100));
        }
        return;
      }
      failing.delete(family);
      fixed.row.other = call.seq;
      add({
        ...{ seq: call.seq, kind: "fixed", at: toMs(call.at), subject, family, command },
        ...{ text: fixed.steps.join("; "), files: toFiles([...fixed.files]), other: fixed.seq, count: 1 },
      });
    };
    const onResult = (event: SessionEvent) => {
      const id = event.tool_use_id ?? lastId;
      const call = open.get(id);
      if (!call) return;
      open.delete(id);
      const { role, input } = call;
      if (event.is_error === true) {
        if (REFUSED.test(event.text.slice(0, 1_000))) return onRefusal(event);
        if (role && LOOKS.has(role)) return;
        const run = toRun(call);
        if (run) onFailure(call, event.text, run);
        return;
      }
      if (role && CHANGES.has(role))
        for (const path of pathsIn(input, role)) {
          edited.add(path);
          for (const one of failing.values()) one.files.add(path);
        }
      if (failing.size === 0 || (role && LOOKS.has(role))) return;
      const run = toRun(call);
      if (run) onSuccess(call, run);
    };
    const onRefusal = (event: SessionEvent) => {
      const [, said = ""] = USER_SAID.exec(event.text.slice(0, 4_000)) ?? [];
      const text = clipLine(plainLine(said));
      if (text !== "") say("corrected", event, text);
    };
    const decide = (event: SessionEvent) => {
      const text = findDecision(event.text);
      if (text !== "") say("decided", event, text);
    };
    const onPrompt = (event: SessionEvent) => {
      // The first prompt has nothing to correct.
      const corrected = worked ? findCorrection(event.text) : "";
      if (corrected !== "") say("corrected", event, corrected);
      else decide(event);
      edited = new Set();
      worked = false;
    };

    return {
      event(event) {
        const { seq, at, kind, tool_name: tool = "unknown", tool_use_id: id = "", tool_input: input } = event;
        if (kind === "tool_use") {
          worked = true;
          lastId = id;
          open.set(id, { seq, at, tool, role: Object.hasOwn(tools, tool) ? tools[tool] : undefined, input });
        } else if (kind === "tool_result") onResult(event);
        else if (kind === "user") onPrompt(event);
        else if (kind === "assistant") {
          worked = true;
          decide(event);
        }
      },
      finish() {
        const names = new Set<string>();
        const facts = [...rows.values()].flat().map(({ files, ...row }) => {
          for (const path of files) names.add(baseOf(path));
          return { ...row, files: JSON.stringify(files) };
        });
        return { recall_facts: facts, recall_file: [...names].map((name) => ({ name })) };
      },
    };
  },
} satisfies IndexerModule;

interface Run {
  subject: string;
  family: string;
  command: string;
}

/** What a call ran; undefined for a command that only reads. */
function toRun({ tool, role, input }: OpenCall): Run | undefined {
  if (role === "shell") {
    const command = toCommand(input);
    const normal = normalizeCommand(command);
    return normal && { ...normal, command: clipLine(plainLine(command.slice(0, 2_000))) };
  }
  const [path = ""] = pathsIn(input, role);
  const subject = clipLine(plainLine(`${tool} ${path}`));
  return { subject, family: subject, command: subject };
}

const toFiles = (paths: readonly string[]): string[] => [...new Set(paths)].slice(0, FILES);

function toMs(at: string | undefined): number | null {
  const ms = Date.parse(at ?? "");
  return Number.isNaN(ms) ? null : ms;
}
