/** Aggregates of a session, counted while its events go by. Constant work per event. A call that failed changed no file. */

import { BoundedMap, type SessionEvent, type SessionUsage, type UsageEntry } from "sessarc";
import { type Adapter, pathsIn, readShell, type ToolRole, toCommand, toSlot } from "sessarc/adapter";
import type { SessionFacts, SlotFacts } from "../catalogue/types.ts";
import { countSkills } from "./skills.ts";

/** Gaps longer than this are not active time. */
const IDLE_GAP_MS = 600_000;
const QUARTER_MS = 900_000;
const MAX_FILES = 2_000;
const MAX_OPEN = 64;
const PROMPT_CHARS = 400;
const CHANGES: ReadonlySet<ToolRole> = new Set(["edit", "write", "patch", "delete", "move"]);

export interface FactsCollector {
  add(event: SessionEvent): void;
  /** A message that is counted elsewhere: only its call is remembered, for a result that counts here. */
  pass(event: SessionEvent): void;
  /** The facts so far, with the tokens of `slots` put in. */
  finish(slots: Record<string, SessionUsage> | undefined): SessionFacts;
  readonly firstPrompt: string | null;
  /** Goes on with a log that grew: times after `latest` (ms) are wrong and ignored. */
  goOn(latest: number): void;
  /** Of the events since the last `goOn`, not of `past`. */
  readonly activeMs: number;
  readonly errorCount: number;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
}

/** `adapter`: what the assistant's tools do, for the files and skills touched. `past`: facts of the part already imported. */
export function collectFacts(adapter: Pick<Adapter, "skills" | "tools"> = {}, past?: SessionFacts): FactsCollector {
  const roles: Readonly<Record<string, ToolRole>> = adapter.tools ?? {};
  const facts: SessionFacts = past ? structuredClone(past) : { kinds: {}, tools: {}, files: {}, slots: {}, last: null };
  const open = new BoundedMap(MAX_OPEN, Object.entries(facts.open ?? {}));
  /** Files counted as changed by calls whose result is still out, by call id; "" is the last call without one. */
  const changing = new BoundedMap(MAX_OPEN, Object.entries(facts.changing ?? {}));
  const skills = countSkills(facts, adapter);
  let latest = Number.POSITIVE_INFINITY;
  let fileCount = Object.keys(facts.files).length;
  let slot: SlotFacts | undefined;
  let quarter = Number.NaN;

  /** False beyond the files that are kept. */
  const touch = (path: string, place: 0 | 1): boolean => {
    let counts = own(facts.files, path);
    if (!counts) {
      if (fileCount >= MAX_FILES) return false;
      fileCount++;
      counts = put(facts.files, path, [0, 0]);
    }
    counts[place]++;
    return true;
  };

  const change = (paths: readonly string[], { tool_use_id = "" }: SessionEvent) => {
    const counted = paths.filter((path) => touch(path, 1));
    if (counted.length > 0) changing.set(tool_use_id, counted);
    else changing.delete(tool_use_id);
  };

  const takeBack = (path: string) => {
    const counts = own(facts.files, path);
    if (!counts) return;
    counts[1]--;
    if (counts[0] + counts[1] > 0) return;
    delete facts.files[path];
    fileCount--;
  };

  const touchAll = (event: SessionEvent, role: ToolRole | undefined) => {
    const { tool_input } = event;
    if (role === "shell") {
      const { reads, patched } = readShell(toCommand(tool_input));
      for (const path of reads) touch(path, 0);
      change(patched, event);
    } else if (role === "read") {
      for (const path of pathsIn(tool_input, role)) touch(path, 0);
    } else change(role && CHANGES.has(role) ? pathsIn(tool_input, role) : [], event);
  };

  const remember = ({ tool_use_id, tool_name = "unknown" }: SessionEvent) => {
    if (tool_use_id !== undefined) open.set(tool_use_id, tool_name);
  };

  const onTool = (event: SessionEvent) => {
    if (event.kind === "tool_use") {
      const name = event.tool_name ?? "unknown";
      const counts = own(facts.tools, name) ?? put(facts.tools, name, [0, 0]);
      counts[0]++;
      remember(event);
      const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
      touchAll(event, role);
      return false;
    }
    const changed = changing.get(event.tool_use_id ?? "");
    changing.delete(event.tool_use_id ?? "");
    if (event.is_error) for (const path of changed ?? []) takeBack(path);
    const name = event.tool_name ?? (event.tool_use_id === undefined ? undefined : open.get(event.tool_use_id));
    if (event.tool_use_id !== undefined) open.delete(event.tool_use_id);
    if (!event.is_error) return false;
    if (name !== undefined) {
      const counts = own(facts.tools, name) ?? put(facts.tools, name, [0, 0]);
      counts[1]++;
    }
    return true;
  };

  const collector: { -readonly [K in keyof FactsCollector]: FactsCollector[K] } = {
    firstPrompt: null,
    activeMs: 0,
    errorCount: 0,
    firstAt: null,
    lastAt: null,
    goOn(most: number) {
      latest = most;
      collector.activeMs = 0;
      collector.errorCount = 0;
    },
    add(event: SessionEvent) {
      facts.kinds[event.kind] = (facts.kinds[event.kind] ?? 0) + 1;
      if (collector.firstPrompt === null && event.kind === "user" && event.text.trim() !== "") {
        collector.firstPrompt = event.text.trim().slice(0, PROMPT_CHARS);
      }
      skills.add(event);
      const failed = event.kind === "tool_use" || event.kind === "tool_result" ? onTool(event) : false;
      if (failed) collector.errorCount++;
      if (event.at === undefined) return;
      const ms = Date.parse(event.at);
      if (Number.isNaN(ms) || ms > latest) return;
      if (collector.firstAt === null || event.at < collector.firstAt) collector.firstAt = event.at;
      if (collector.lastAt === null || event.at > collector.lastAt) collector.lastAt = event.at;
      if (Math.floor(ms / QUARTER_MS) !== quarter) {
        quarter = Math.floor(ms / QUARTER_MS);
        const name = toSlot(event.at);
        slot = own(facts.slots, name) ?? put(facts.slots, name, { m: 0, a: 0, e: 0 });
      }
      if (!slot) return;
      slot.m++;
      if (failed) slot.e++;
      if (facts.last !== null) {
        const gap = ms - facts.last;
        if (gap > 0 && gap <= IDLE_GAP_MS) {
          slot.a += gap;
          collector.activeMs += gap;
        }
      }
      facts.last = facts.last === null ? ms : Math.max(facts.last, ms);
    },
    pass(event: SessionEvent) {
      changing.delete(event.tool_use_id ?? "");
      if (event.kind === "tool_use") remember(event);
      else if (event.kind === "tool_result" && event.tool_use_id !== undefined) open.delete(event.tool_use_id);
    },
    finish(slots: Record<string, SessionUsage> | undefined) {
      for (const one of Object.values(facts.slots)) delete one.u;
      for (const [name, usage] of Object.entries(slots ?? {})) {
        const one = own(facts.slots, name) ?? put(facts.slots, name, { m: 0, a: 0, e: 0 });
        one.u = usage;
      }
      if (open.size > 0) facts.open = Object.fromEntries(open);
      else delete facts.open;
      changing.delete("");
      if (changing.size > 0) facts.changing = Object.fromEntries(changing);
      else delete facts.changing;
      skills.finish();
      return facts;
    },
  };
  return collector;
}

/** Puts in what the newest of these replies was sent, which are the last ones of a log. */
export function addContext(facts: SessionFacts, replies: readonly UsageEntry[]): SessionFacts {
  const most = new Map(facts.context?.most);
  let { context } = facts;
  for (const { model, inherited, usage } of replies) {
    const tokens = usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
    if (inherited || tokens === 0) continue;
    most.set(model, Math.max(tokens, most.get(model) ?? 0));
    context = { model, tokens, most: [] };
  }
  return context ? { ...facts, context: { ...context, most: [...most] } } : facts;
}

const own = <T>(map: Record<string, T>, key: string): T | undefined => (Object.hasOwn(map, key) ? map[key] : undefined);

/** Names come from logs: `__proto__` must become a plain key. */
function put<T>(map: Record<string, T>, key: string, value: T): T {
  Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
  return value;
}
