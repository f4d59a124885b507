/** Finds the secrets of each session while it is read. Their values are not stored, only their fingerprints. */
import { BoundedMap, type EventKind, type IndexerModule, type SessionEvent } from "sessarc";
import { toolCall } from "sessarc/adapter";
import type { EventFinding } from "../engine.ts";
import { hideIn } from "../hide.ts";
import { toFingerprint } from "./fingerprint.ts";
import { leakScanner } from "./scanner.ts";

/** One secret at one kind of place of a session. */
type LeakRow = {
  fingerprint: string;
  rule_id: string;
  confidence: string;
  /** What may be shown of it. */
  masked: string;
  /** Kind of the messages that hold it. */
  kind: EventKind;
  /** Tool, file and command of the call that holds it or whose output does; empty: none. */
  tool_name: string;
  path: string;
  command: string;
  count: number;
  /** Message that held it first. */
  seq: number;
  field: string;
  first_at: string | null;
  last_at: string | null;
};

type Call = Pick<LeakRow, "tool_name" | "path" | "command">;

/** Rows of one session; further secrets are counted. */
const MOST_ROWS = 1_000;
const MOST_OPEN = 100;
const COMMAND_CHARS = 200;
/** ms of one message. What is not checked by then is counted as unchecked. */
const BUDGET_MS = 2_000;

const NO_CALL: Call = { tool_name: "", path: "", command: "" };

export default {
  create() {
    const scanner = leakScanner();
    const rows = new Map<string, LeakRow>();
    /** Calls whose output has not come yet. */
    const open = new BoundedMap<string, Call>(MOST_OPEN);
    let unchecked = 0;
    let more = 0;

    function toCall(event: SessionEvent): Call {
      const { kind, tool_name = "", tool_use_id = "", tool_input } = event;
      if (kind === "tool_result") {
        const call = open.get(tool_use_id) ?? { ...NO_CALL, tool_name };
        open.delete(tool_use_id);
        return call;
      }
      if (kind !== "tool_use") return NO_CALL;
      const { path = "", command = "" } = toolCall(tool_input);
      const call = { tool_name, path, command };
      if (tool_use_id !== "") open.set(tool_use_id, call);
      return call;
    }

    function add(finding: EventFinding, { seq, kind, at }: SessionEvent, call: Call): void {
      const { ruleId, confidence, masked, field } = finding;
      const fingerprint = toFingerprint(finding.secret);
      // A secret is masked before the command is cut, so that no half of it stays.
      const command = hideIn(scanner, call.command).slice(0, COMMAND_CHARS);
      const path = hideIn(scanner, call.path);
      const place = { fingerprint, kind, tool_name: call.tool_name, path, command };
      const key = toKey(place);
      const known = rows.get(key);
      if (known) {
        known.count++;
        known.last_at = at ?? known.last_at;
      } else if (rows.size >= MOST_ROWS) more++;
      else
        rows.set(key, {
          ...place,
          ...{ rule_id: ruleId, confidence, masked, count: 1, seq, field: field.slice(0, 300) },
          ...{ first_at: at ?? null, last_at: at ?? null },
        });
    }

    return {
      event(event) {
        const call = toCall(event);
        const { findings, partial } = scanner.scanEvent(event, { budgetMs: BUDGET_MS });
        if (partial) unchecked++;
        for (const finding of findings) add(finding, event, call);
      },
      finish: () => ({
        security_leak: [...rows.values()].map((row) => ({ ...row })),
        security_unchecked: unchecked + more > 0 ? [{ messages: unchecked, more }] : [],
      }),
    };
  },
} satisfies IndexerModule;

const toKey = ({
  fingerprint,
  kind,
  tool_name,
  path,
  command,
}: Pick<LeakRow, "fingerprint" | "kind" | "tool_name" | "path" | "command">) =>
  [fingerprint, kind, tool_name, path, command].join("\0");
