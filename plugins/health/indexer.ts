/** Finds in one session what cost time or tokens for nothing. Constant work an event. */
import { createHash } from "node:crypto";
import { BoundedMap, type IndexerModule, type Json, type SessionEvent } from "sessarc";
import { mainArgument, pathsIn, toolCall } from "sessarc/adapter";
import { oneLine } from "sessarc/terminal";
import { CHARS, type Ending, type Finding, type OpenCall, type ReadFile, type Repeat, type ToolUse } from "./state.ts";

/** Calls that wait for their result, and things that are remembered of a session. */
const OPEN = 256;
const KEPT = 2_000;
/** The same call so often, and nothing was changed meanwhile, is a loop. */
const LOOP = 3;
/** A call that took longer is a wait. */
const WAIT_MS = 60_000;
/** Findings of one kind in a session, the largest. */
const MOST = 50;
const SUBJECT = 200;

const CHANGES: ReadonlySet<string> = new Set(["edit", "write", "patch", "delete", "move"]);

export default {
  create({ tools }) {
    const open = new BoundedMap<string, OpenCall>(OPEN);
    const repeats = new BoundedMap<string, Repeat>(KEPT);
    const files = new BoundedMap<string, ReadFile>(KEPT);
    /** Where an edit was made, by path, old and new text. */
    const edits = new BoundedMap<string, number>(KEPT);
    const byTool = new BoundedMap<string, ToolUse>(KEPT);
    let findings: Finding[] = [];
    let failure: Ending["failure"] = null;
    let last: Ending["last"] = null;
    let failedCommand: Ending["failedCommand"] = null;
    let lastId = "";

    const add = (finding: Finding) => {
      findings.push(finding);
      if (findings.length > KEPT) findings = largest(findings);
    };
    const findRole = (name: string) => (Object.hasOwn(tools, name) ? tools[name] : undefined);

    const onCall = ({ seq, at, tool_name: tool = "unknown", tool_use_id: id = "", tool_input }: SessionEvent) => {
      failure = null;
      lastId = id;
      const role = findRole(tool);
      const sent = JSON.stringify(tool_input ?? null);
      const key = hash(`${tool}\0${sent}`);
      const subject = oneLine(mainArgument(tool_input)).slice(0, SUBJECT);
      const isChange = role !== undefined && CHANGES.has(role);
      if (isChange) onChange(seq, tool, tool_input);
      else {
        const repeat = repeats.get(key);
        if (repeat) {
          repeat.count++;
          repeat.last = seq;
        } else
          repeats.set(key, { seq, last: seq, count: 1, failed: 0, chars: 0, tool, subject, isRead: role === "read" });
      }
      const [path = ""] = role === "read" ? pathsIn(tool_input, role) : [];
      const command = role === "shell" ? subject : null;
      open.set(id, { seq, at: at ?? null, tool, key, path, command, chars: sent.length });
    };

    const onChange = (seq: number, tool: string, input: Json | undefined) => {
      // After a change the same command is another question.
      for (const repeat of repeats.values()) for (const row of repeated(repeat)) add(row);
      repeats.clear();
      const { path, edits: texts } = toolCall(input);
      if (path === undefined) return;
      const file = files.get(path);
      if (file) file.fresh = false;
      for (const { before, after } of texts) {
        if (before === after) continue;
        const undone = edits.get(hash(`${path}\0${after}\0${before}`));
        const row = { last: seq, count: 1, tool, subject: path.slice(-SUBJECT), tokens: 0, ms: 0 };
        if (undone !== undefined) add({ kind: "undone", seq: undone, ...row });
        edits.set(hash(`${path}\0${before}\0${after}`), seq);
      }
    };

    const onResult = ({ seq, at, tool_use_id, is_error, text }: SessionEvent) => {
      const id = tool_use_id ?? lastId;
      const call = open.get(id);
      if (!call) return;
      open.delete(id);
      const own = byTool.get(call.tool) ?? { calls: 0, failed: 0, first: is_error === true, errors: [] };
      byTool.set(call.tool, own);
      own.calls++;
      if (is_error) {
        const chars = call.chars + text.length;
        own.failed++;
        if (own.errors.length < KEPT) own.errors.push([call.seq, chars]);
        const repeat = repeats.get(call.key);
        if (repeat) {
          if (repeat.failed > 0) repeat.chars += chars;
          repeat.failed++;
        }
        failure = { seq: call.seq, tool: call.tool };
      }
      if (call.command !== null)
        failedCommand = is_error ? { seq: call.seq, tool: call.tool, subject: call.command } : null;
      const ms = Date.parse(at ?? "") - Date.parse(call.at ?? "");
      if (ms >= WAIT_MS)
        add({ kind: "wait", seq: call.seq, last: seq, count: 1, tool: call.tool, subject: "", tokens: 0, ms });
      if (call.path === "" || is_error) return;
      const file = files.get(call.path) ?? {
        reads: 0,
        again: 0,
        chars: 0,
        seq: call.seq,
        last: seq,
        fresh: false,
        size: 0,
      };
      files.set(call.path, file);
      file.reads++;
      file.size = Math.max(file.size, text.length);
      if (file.fresh) {
        file.again++;
        file.chars += text.length;
        file.last = call.seq;
      }
      file.fresh = true;
    };

    return {
      event(event) {
        if (event.kind !== "note" && event.kind !== "thinking")
          last = { seq: event.seq, answered: event.kind === "assistant" };
        if (event.kind === "tool_use") onCall(event);
        else if (event.kind === "tool_result") onResult(event);
        else if (event.kind === "assistant" || event.kind === "user") failure = null;
        else if (event.kind === "note" && /compact/i.test(event.text.slice(0, 200)))
          add({
            kind: "compaction",
            seq: event.seq,
            last: event.seq,
            count: 1,
            tool: "",
            subject: "",
            tokens: 0,
            ms: 0,
          });
      },
      finish() {
        const rows = [...findings];
        for (const repeat of repeats.values()) rows.push(...repeated(repeat));
        for (const [path, { again, seq, last, chars }] of files)
          if (again > 0) {
            const tokens = Math.round(chars / CHARS);
            rows.push({
              kind: "reread",
              seq,
              last,
              count: again,
              tool: "",
              subject: path.slice(-SUBJECT),
              tokens,
              ms: 0,
            });
          }
        const ending = findEnding(failure, last, failedCommand);
        if (ending) rows.push(ending);
        return {
          health_finding: largest(rows).map((row) => ({ ...row })),
          health_file: [...files].map(([path, { reads, size }]) => ({ path, reads, chars: size })),
          health_tool: [...byTool].map(([tool, { calls, failed, first, errors }]) => ({
            tool,
            calls,
            failed,
            first_failed: first ? 1 : 0,
            errors: JSON.stringify(errors),
          })),
        };
      },
    };
  },
} satisfies IndexerModule;

/** How the session ended, where that was not with an answer after commands that worked. */
function findEnding(
  failure: Ending["failure"],
  last: Ending["last"],
  failedCommand: Ending["failedCommand"],
): Finding | undefined {
  const at = ({ seq, tool = "", subject = "" }: { seq: number; tool?: string; subject?: string }) => ({
    ...{ seq, last: seq, tool, subject },
    ...{ count: 1, tokens: 0, ms: 0 },
  });
  if (failure) return { kind: "unread", ...at(failure) };
  if (last && !last.answered) return { kind: "unanswered", ...at(last) };
  return failedCommand ? { kind: "failedLast", ...at(failedCommand) } : undefined;
}

/** Why a repeated call counts: it failed repeatedly, or its result was not needed. */
function repeated({ seq, last, count, failed, chars, tool, subject, isRead }: Repeat): Finding[] {
  const row = { seq, last, tool, subject, tokens: 0, ms: 0 };
  if (failed >= 2) return [{ ...row, kind: "retry", count: failed, tokens: Math.round(chars / CHARS) }];
  return !isRead && count >= LOOP ? [{ ...row, kind: "loop", count }] : [];
}

const hash = (text: string) => createHash("sha1").update(text).digest("base64").slice(0, 16);

/** The most of each kind: a session of a machine may hold thousands. */
function largest(rows: readonly Finding[]): Finding[] {
  const worth = ({ tokens, ms, count }: Finding) => tokens + ms / 1_000 + count;
  const taken = new Map<string, number>();
  return rows
    .toSorted((a, b) => worth(b) - worth(a) || a.seq - b.seq)
    .filter(({ kind }) => {
      const count = (taken.get(kind) ?? 0) + 1;
      taken.set(kind, count);
      return count <= MOST;
    });
}
