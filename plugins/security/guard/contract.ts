/** How an assistant has another program asked about a tool call before it runs, and reports that it waits. Adapters provide it. */

import type { Json, JsonRecord } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

/** Entries in a settings file, or a file of its own that holds only the hook. */
export type GuardContract = GuardEntries | GuardFile;

interface GuardFacts {
  /** Default: the adapter's. */
  label?: string;
  /** The file that the hook is written into. */
  settings(env: AdapterEnv): string;
  /** The assistant is listed where this folder exists; without it always. */
  home?(env: AdapterEnv): string;
  /** Whether a call is this assistant's, where the caller does not name it. The first adapter that returns true has it. */
  recognises?(payload: JsonRecord): boolean;
  /** Its tools that search files show the lines they found only where `output_mode` is `content`, else names. */
  namesFound?: boolean;
  /** The one thing that happens to a call when the service cannot be asked, where the hook has no choice. Default: what the user chooses. */
  onFailure?: "allow" | "block";
  /** Why an installed hook does not work, each with the step that solves it: settings that switch hooks off, a question of trust. */
  problems?(state: GuardState): readonly string[] | Promise<readonly string[]>;
}

export interface GuardEntries extends GuardFacts {
  /** `jsonc` allows comments. */
  format: "json" | "jsonc" | "toml";
  /** Keys of the list of hooks. Default `["hooks", "PreToolUse"]`. */
  list?: readonly string[];
  /**
   * The entry to append. Its command reads the call on stdin; it prints an answer that blocks or asks, and nothing to let the call run; where it cannot
   * ask, it ends with 0 or with 2, as the user chose. Default `{ matcher: "*", hooks: [{ type: "command", command, timeout: 10 }] }`.
   */
  entry?(hook: GuardHook): Json;
  /** Required fields of the root, added where they are missing. */
  root?: Readonly<Record<string, Json>>;
  /** The file that hooks are written into instead, where it exists alone and matches. */
  instead?: { settings(env: AdapterEnv): string; format: GuardEntries["format"]; where: RegExp };
  /**
   * The answer that blocks a call. Default: `{ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason } }`.
   */
  deny?(reason: string): JsonRecord;
  /** The answer that has the assistant ask its user. Absent: it cannot, and the call runs. */
  ask?(why: string): JsonRecord;
  /** Hooks that report that the assistant waits for its user, or no longer. Absent: none are known. */
  waiting?: readonly WaitingHook[];
  /** Hooks whose answer the model reads. Absent: none are known. */
  context?: { start?: ContextHook; call?: ContextHook };
}

/** What can be offered to a model: at a session's start, with a command, with the change of a file. */
export const OFFERS = ["start", "command", "file"] as const;
export type Offer = (typeof OFFERS)[number];

export interface ContextHook {
  /** Keys of the list of hooks. Where it is the guard's own, one entry asks for both. */
  list: readonly string[];
  /** The entry to append, where it is not the guard's. Default `{ hooks: [{ type: "command", command, timeout: 10 }] }`, for a call with a matcher. */
  entry?(hook: GuardHook): Json;
  /** The answer. Default `{ hookSpecificOutput: { hookEventName, additionalContext } }` with the last key of `list`. */
  answer?(text: string): JsonRecord;
}

export interface WaitingHook {
  /** What the hook reports; `notification`: what the payload's type or text names. */
  reports: "answer" | "permission" | "ended" | "notification";
  /** Keys of the list of hooks; it may be that of the guard. */
  list: readonly string[];
  /**
   * The entry to append. Without a time limit, as assistants differ in its unit; the command has its own. Default
   * `{ hooks: [{ type: "command", command }] }`.
   */
  entry?(hook: GuardHook): Json;
}

export interface GuardHook {
  command: string;
  onFailure: "allow" | "block";
  platform: NodeJS.Platform;
  /** A pattern of the names of the tools that the hook is asked about. Absent: all. */
  tools?: string;
}

export interface GuardFile extends GuardFacts {
  format: "file";
  /** Its whole text: an ES module that the assistant loads. It asks by the functions of `client`, and can report waiting. */
  text(client: GuardClient): string;
}

export interface GuardClient {
  /**
   * JavaScript for the beginning of the file. `await ask(call)` returns `{ decision, reason }`, and throws when the service cannot be asked; `call` has
   * `tool_name`, `tool_input`, `tool_use_id`, `session_id`, `cwd`. `await report(session, event)` reports `answer`, `permission` or `ended`, never
   * throws, and is there where `waiting` is true.
   */
  code: string;
  /** A statement for a call that could not be asked about: it returns, or throws an Error, as the user chose. */
  failed: string;
  waiting: boolean;
}

/** What `problems` gets. */
export interface GuardState {
  env: AdapterEnv;
  /** The file with the hook, and its values; none for a `file`. */
  path: string;
  settings: JsonRecord;
  /** Whether a value is, or holds, a hook that was installed. */
  isOurs(hook: unknown): boolean;
  /** Another of the assistant's files; an empty object where it is missing or the assistant could not read it either. */
  read(path: string, syntax: "json" | "toml"): Promise<JsonRecord>;
}
