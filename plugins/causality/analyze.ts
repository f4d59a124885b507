/** Which reads led to which changes: one pass over a session, constant work per message. */

import { alone, BoundedMap, isRecord, type Json, type SessionEvent } from "sessarc";
import { pathsIn, readShell, type ToolRole, toCommand } from "sessarc/adapter";
import { listSpeaks, pathsInText } from "./paths.ts";
import { type Cause, computeScore, RELATIONS, type Relation, toReason } from "./relations.ts";
import { createTrail, type Evidence } from "./trail.ts";

export interface Change {
  seq: number;
  at: string | null;
  tool_name: string;
  /** As the call names it. */
  path: string;
  /** At most ten, best first. */
  causes: Cause[];
}

export interface Causality {
  changes: Change[];
  /** Files read, by reading tools and plain shell commands. */
  reads: number;
  /** Reads that led to no change although the session made some. */
  wastedReads: { seq: number; path: string /** Characters of the result / 4. */; tokens: number }[];
  /** What `tokens` are. */
  tokenEstimate: "characters / 4";
}

interface Call {
  name: string;
  role: ToolRole | undefined;
  evidence: Evidence[];
  searches: Evidence | undefined;
  /** What it changes, if it does not fail. */
  attempt: Attempt | undefined;
}

/** Changes of one call; none of them was made when its result says that it failed. */
interface Attempt {
  settled: boolean;
  changes: Change[];
  /** What is of use if they were made. */
  causes: Evidence[];
}

const CAUSES = 10;
/** Newest entries kept of all. */
const RECENT = 6;
const RECENT_SEQS = 40;
const OPEN_CALLS = 256;
/** Files a result may name. */
const FILES = 100;
const CHANGING: ReadonlySet<ToolRole | undefined> = new Set<ToolRole>(["edit", "write", "patch", "delete", "move"]);

interface Analysis {
  add(event: SessionEvent): void;
  /** Changes found since the last call: who writes them down as they come holds few at a time. `finish` has the rest. */
  takeChanges(): Change[];
  finish(): Causality;
  /** Entries read: grows linearly with the session's length. */
  readonly steps: number;
}

export function createAnalysis(roles: Readonly<Record<string, ToolRole>>, cwd: string): Analysis {
  const reads: Evidence[] = [];
  let changes: Change[] = [];
  /** In order of the calls, from the first whose result is still out. */
  const attempts: Attempt[] = [];
  const trail = createTrail(cwd);
  const recent: Evidence[] = [];
  const calls = new BoundedMap<string, Call>(OPEN_CALLS);
  let last: Call | undefined;
  let steps = 0;
  let turns = 0;
  let changed = false;

  function look(event: SessionEvent, path: string | null, pattern: string | null, read: boolean): Evidence {
    const name = path === null ? null : trail.name(path);
    const evidence = toEvidence(event.seq, event.tool_name ?? "unknown", name, pattern && alone(pattern), read);
    recent.push(evidence);
    if (recent.length > RECENT) recent.shift();
    if (name === null) return evidence;
    const spot = trail.spot(name);
    evidence.stem = spot.stem;
    if (!read) {
      spot.found.add(evidence);
      return evidence;
    }
    reads.push(evidence);
    spot.reads.add(evidence);
    spot.inFolder.add(evidence);
    spot.namesakes?.add(evidence);
    return evidence;
  }

  function onCall(event: SessionEvent): void {
    const name = event.tool_name ?? "unknown";
    const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
    const call: Call = { name, role, evidence: [], searches: undefined, attempt: undefined };
    const input = role === undefined ? undefined : event.tool_input;
    if (role === "read") {
      for (const path of pathsIn(input, role)) call.evidence.push(look(event, path, null, true));
    } else if (role === "search") {
      const [path] = pathsIn(input, role);
      call.searches = look(event, path ?? null, findPattern(input), false);
    } else if (role === "shell") {
      const use = readShell(toCommand(input));
      for (const path of use.reads) call.evidence.push(look(event, path, null, true));
      for (const { pattern, paths } of use.searches) call.searches = look(event, paths[0] ?? null, pattern, false);
      attempt(event, call, use.patched);
    }
    if (CHANGING.has(role)) attempt(event, call, pathsIn(input, role));
    last = call;
    if (event.tool_use_id !== undefined) calls.set(event.tool_use_id, call);
  }

  function onResult(event: SessionEvent): void {
    const call = event.tool_use_id === undefined ? last : calls.get(event.tool_use_id);
    if (event.tool_use_id !== undefined) calls.delete(event.tool_use_id);
    if (!call) return;
    if (call.attempt) settle(call.attempt, event.is_error !== true);
    if (call.evidence.length === 0 && !call.searches && !event.is_error) return;
    const { text } = event;
    for (const evidence of call.evidence) evidence.chars = text.length / call.evidence.length;
    if (event.is_error) note(text, "failed", toEvidence(event.seq, call.name, null, null, false));
    else if (call.searches) note(text, "found", call.searches);
  }

  /** Puts it down at the first files that `text` names. */
  function note(text: string, list: "found" | "failed", evidence: Evidence): void {
    let files = 0;
    for (const path of pathsInText(text)) {
      steps++;
      if (trail.spot(path)[list].add(evidence)) files++;
      if (files === FILES) return;
    }
  }

  function attempt(event: SessionEvent, call: Call, paths: readonly string[]): void {
    if (paths.length === 0) return;
    call.attempt = { settled: false, changes: [], causes: [] };
    for (const path of paths) change(event, call.name, path, call.attempt);
    attempts.push(call.attempt);
    // A call of long ago whose result never came: as far as anybody knows it changed what it names.
    if (attempts.length > OPEN_CALLS && attempts[0]) settle(attempts[0], true);
  }

  /** What was made is handed on in the order of the calls. */
  function settle(one: Attempt, made: boolean): void {
    if (one.settled) return;
    one.settled = true;
    if (!made) one.changes = [];
    else for (const evidence of one.causes) evidence.used = true;
    let done = 0;
    for (const { settled, changes: list } of attempts) {
      if (!settled) break;
      if (list.length > 0) changed = true;
      changes.push(...list);
      done++;
    }
    attempts.splice(0, done);
  }

  function change(event: SessionEvent, tool: string, path: string, into: Attempt): void {
    const spot = trail.spot(path);
    const turn = ++turns;
    // The best so far, best first.
    const picked: Evidence[] = [];
    // From the strongest relation to the weakest: the first one that fits an entry stays.
    const offer = (list: readonly Evidence[], relation: Relation) => {
      const last = picked[CAUSES - 1];
      if (last !== undefined && last.score > RELATIONS[relation]) return;
      steps += list.length;
      for (const evidence of list) {
        if (evidence.turn === turn) continue;
        evidence.turn = turn;
        evidence.relation = relation;
        evidence.score = computeScore(relation, event.seq - evidence.seq);
        pick(picked, evidence);
      }
    };
    offer(spot.reads.list, "same-file");
    offer(spot.failed.list, "error-output");
    offer(spot.found.list, "search-hit");
    if (spot.namesakes) offer(spot.namesakes.list, "same-stem");
    // A neighbour that the change does not speak of has nothing to do with it.
    const neighbours = spot.inFolder.list;
    if (neighbours.length > 0) {
      const said = JSON.stringify(event.tool_input) ?? "";
      offer(
        neighbours.filter(({ stem }) => listSpeaks(said, stem)),
        "same-directory",
      );
    }
    if (recent.length > 0 && event.seq - (recent[0] as Evidence).seq <= RECENT_SEQS) offer(recent, "recent");
    const causes: Cause[] = [];
    for (const evidence of picked) {
      const { seq, tool_name, path: looked, pattern, score, relation } = evidence;
      if (relation !== "recent") into.causes.push(evidence);
      causes.push({
        seq,
        tool_name,
        path: looked,
        pattern,
        score,
        relation,
        reason: toReason(relation, evidence, event.seq),
      });
    }
    into.changes.push({ seq: event.seq, at: event.at ?? null, tool_name: tool, path: trail.name(path), causes });
  }

  return {
    get steps() {
      return steps;
    },
    add(event) {
      steps++;
      if (event.kind === "tool_use") onCall(event);
      else if (event.kind === "tool_result") onResult(event);
    },
    takeChanges() {
      const taken = changes;
      changes = [];
      return taken;
    },
    finish() {
      for (const one of [...attempts]) settle(one, true);
      const wasted = changed ? reads.filter(({ used }) => !used) : [];
      return {
        changes,
        reads: reads.length,
        wastedReads: wasted.map(({ seq, path, chars }) => ({ seq, path: path ?? "", tokens: Math.ceil(chars / 4) })),
        tokenEstimate: "characters / 4",
      };
    },
  };
}

function toEvidence(
  seq: number,
  tool_name: string,
  path: string | null,
  pattern: string | null,
  read: boolean,
): Evidence {
  return {
    seq,
    tool_name,
    path,
    stem: "",
    pattern,
    read,
    chars: 0,
    used: false,
    turn: 0,
    relation: "recent",
    score: 0,
  };
}

/** Puts `evidence` where it belongs among the best, of two equal ones the newer first; the last one falls out when there are too many. */
function pick(best: Evidence[], evidence: Evidence): void {
  let at = best.length;
  if (at < CAUSES) best.push(evidence);
  else if (!isBetter(evidence, best[--at] as Evidence)) return;
  for (; at > 0 && isBetter(evidence, best[at - 1] as Evidence); at--) best[at] = best[at - 1] as Evidence;
  best[at] = evidence;
}

const isBetter = (a: Evidence, b: Evidence) => a.score > b.score || (a.score === b.score && a.seq > b.seq);

function findPattern(input: Json | undefined): string | null {
  if (!isRecord(input)) return null;
  for (const key of ["pattern", "query", "regex", "search_term", "glob_pattern", "searchTerm"]) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return value.slice(0, 300);
  }
  return null;
}
