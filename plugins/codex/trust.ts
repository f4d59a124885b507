/** Codex runs only hooks whose digest is listed as trusted in its settings. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRecord, type JsonRecord } from "sessarc";
import type { Adapter } from "sessarc/adapter";

type GuardState = Parameters<NonNullable<NonNullable<Adapter["guard"]>["problems"]>>[0];

/** Lists of hooks, by the names that Codex has for them in its trust. */
const LISTS = {
  PreToolUse: "pre_tool_use",
  PermissionRequest: "permission_request",
  Stop: "stop",
  SessionStart: "session_start",
};

/** Returns why Codex does not run a hook of the guard in these settings (hooks.json or config.toml), with the step that solves it. */
export async function trustProblem(
  { settings, path, isOurs }: GuardState,
  config: JsonRecord,
): Promise<string | undefined> {
  const states = isRecord(config.hooks) && isRecord(config.hooks.state) ? config.hooks.state : {};
  // Codex resolves links in CODEX_HOME, but not in its default folder.
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  const lists = isRecord(settings.hooks) ? settings.hooks : {};
  for (const [list, event] of Object.entries(LISTS)) {
    const entries = lists[list];
    for (const [group, entry] of (Array.isArray(entries) ? entries : []).entries()) {
      const hooks = isRecord(entry) && Array.isArray(entry.hooks) ? entry.hooks.filter(isRecord) : [];
      for (const [index, hook] of hooks.entries()) {
        if (!isRecord(entry) || !isOurs(hook)) continue;
        const keys = [path, join(folder, basename(path))].map((file) => `${file}:${event}:${group}:${index}`);
        const state = keys.map((key) => states[key]).find(isRecord);
        if (state?.enabled === false)
          return "The hook is switched off in Codex CLI: start it and switch it on with /hooks";
        if (typeof state?.trusted_hash !== "string")
          return "Codex CLI runs a new hook only after you trusted it: start it and accept it with /hooks";
        if (state.trusted_hash !== trustHash(entry, hook, event))
          return "The hook's command changed since you trusted it, and Codex CLI skips it: start it and accept it again with /hooks";
      }
    }
  }
  return undefined;
}

/** The digest that Codex stores: of the hook with its group's matcher and all defaults, keys sorted. */
export function trustHash(group: JsonRecord, hook: JsonRecord, event = LISTS.PreToolUse): string {
  const { command, timeout = 600, async: background = false, statusMessage } = hook;
  const handler = { async: background, command, statusMessage, timeout, type: "command" };
  const identity = { event_name: event, hooks: [handler], matcher: group.matcher };
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}
