/** Which reads led to which changes: one pass over a session, constant work per message. */
import { isRecord, type Json, pathsIn, type SessionEvent, type ToolRole } from "sessarc";
import { type Place, pathsInText, toPlace } from "./paths.ts";
import { type Cause, type Relation, reasonOf, scoreOf } from "./relations.ts";
import { commandOf, readShell } from "./shell.ts";

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

/** Something the assistant looked at. */
export interface Evidence {
  seq: number;
  tool_name: string;
  path: string | null;
  pattern: string | null;
  read: boolean;
  /** Characters of the result. */
  chars: number;
  /** It is among the causes of a change by more than being recent. */
  used: boolean;
  /** Number of the change it was last looked at for, and as what. */
  turn: number;
  relation: Relation;
  score: number;
}

interface Call {
  name: string;
  role: ToolRole | undefined;
  evidence: Evidence[];
  searches: Evidence | undefined;
}

const CAUSES = 10;
/** Newest entries kept per path, folder, stem; and of all. */
const PER_KEY = 8;
const RECENT = 6;
const RECENT_SEQS = 40;
const OPEN_CALLS = 256;
const PLACES = 20_000;
const CHANGING: ReadonlySet<ToolRole | undefined> = new Set<ToolRole>(["edit", "write", "patch", "delete", "move"]);

export interface Analysis {
  add(event: SessionEvent): void;
  finish(): Causality;
  /** Entries looked at: grows with the session's length and no faster. */
  readonly steps: number;
}

export function createAnalysis(roles: Readonly<Record<string, ToolRole>>, cwd: string): Analysis {
  const reads: Evidence[] = [];
  const changes: Change[] = [];
  const readsOf = { path: keyed(), dir: keyed(), stem: keyed() };
  const found = keyed();
  const failed = keyed();
  const recent: Evidence[] = [];
  const calls = new Map<string, Call>();
  const places = new Map<string, Place>();
  let last: Call | undefined;
  let steps = 0;
  let changeCount = 0;

  const placeOf = (path: string): Place => {
    let place = places.get(path);
    if (!place) {
      place = toPlace(path, cwd);
      if (places.size < PLACES) places.set(path, place);
    }
    return place;
  };

  function look(event: SessionEvent, path: string | null, pattern: string | null, read: boolean): Evidence {
    const evidence = toEvidence(event.seq, event.tool_name ?? "unknown", path, pattern, read);
    recent.push(evidence);
    if (recent.length > RECENT) recent.shift();
    if (path === null) return evidence;
    const place = placeOf(path);
    if (!read) {
      found.add(place.path, evidence);
      return evidence;
    }
    reads.push(evidence);
    readsOf.path.add(place.path, evidence);
    readsOf.dir.add(place.dir, evidence);
    if (place.stem.length > 1) readsOf.stem.add(place.stem, evidence);
    return evidence;
  }

  function onCall(event: SessionEvent): void {
    const name = event.tool_name ?? "unknown";
    const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
    const call: Call = { name, role, evidence: [], searches: undefined };
    if (role === "read") {
      for (const path of pathsIn(event.tool_input, role)) call.evidence.push(look(event, path, null, true));
    } else if (role === "search") {
      const [path] = pathsIn(event.tool_input, role);
      call.searches = look(event, path ?? null, patternOf(event.tool_input), false);
    } else if (role === "shell") {
      const use = readShell(commandOf(event.tool_input));
      for (const path of use.reads) call.evidence.push(look(event, path, null, true));
      for (const { pattern, paths } of use.searches) call.searches = look(event, paths[0] ?? null, pattern, false);
      for (const path of use.patched) change(event, name, path);
    }
    if (CHANGING.has(role)) for (const path of pathsIn(event.tool_input, role)) change(event, name, path);
    last = call;
    if (event.tool_use_id === undefined) return;
    calls.set(event.tool_use_id, call);
    if (calls.size > OPEN_CALLS) calls.delete(calls.keys().next().value as string);
  }

  function onResult(event: SessionEvent): void {
    const call = event.tool_use_id === undefined ? last : calls.get(event.tool_use_id);
    if (event.tool_use_id !== undefined) calls.delete(event.tool_use_id);
    if (!call) return;
    const share = call.evidence.length > 0 ? event.text.length / call.evidence.length : 0;
    for (const evidence of call.evidence) evidence.chars = share;
    if (call.searches && !event.is_error) {
      for (const path of pathsInText(event.text)) {
        steps++;
        found.add(placeOf(path).path, call.searches);
      }
    } else if (event.is_error) {
      const evidence = toEvidence(event.seq, call.name, null, null, false);
      for (const path of pathsInText(event.text)) {
        steps++;
        failed.add(placeOf(path).path, evidence);
      }
    }
  }

  function change(event: SessionEvent, tool: string, path: string): void {
    const place = placeOf(path);
    const turn = ++changeCount;
    const picked: Evidence[] = [];
    // From the strongest relation to the weakest: the first one that fits an entry stays.
    const offer = (list: readonly Evidence[], relation: Relation) => {
      steps += list.length;
      for (const evidence of list) {
        if (evidence.turn === turn) continue;
        evidence.turn = turn;
        evidence.relation = relation;
        evidence.score = scoreOf(relation, event.seq - evidence.seq);
        picked.push(evidence);
      }
    };
    offer(readsOf.path.of(place.path), "same-file");
    offer(failed.of(place.path), "error-output");
    offer(found.of(place.path), "search-hit");
    offer(readsOf.stem.of(place.stem), "same-stem");
    offer(readsOf.dir.of(place.dir), "same-directory");
    if (recent.length > 0 && event.seq - (recent[0] as Evidence).seq <= RECENT_SEQS) offer(recent, "recent");
    picked.sort(byScore);
    const causes: Cause[] = [];
    for (const evidence of picked) {
      if (causes.length === CAUSES) break;
      const { seq, tool_name, path: looked, pattern, score, relation } = evidence;
      if (relation !== "recent") evidence.used = true;
      causes.push({
        seq,
        tool_name,
        path: looked,
        pattern,
        score,
        relation,
        reason: reasonOf(relation, evidence, event.seq),
      });
    }
    changes.push({ seq: event.seq, at: event.at ?? null, tool_name: tool, path, causes });
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
    finish: () => ({
      changes,
      reads: reads.length,
      wastedReads:
        changes.length === 0
          ? []
          : reads
              .filter(({ used }) => !used)
              .map(({ seq, path, chars }) => ({ seq, path: path ?? "", tokens: Math.ceil(chars / 4) })),
      tokenEstimate: "characters / 4",
    }),
  };
}

function toEvidence(
  seq: number,
  tool_name: string,
  path: string | null,
  pattern: string | null,
  read: boolean,
): Evidence {
  return { seq, tool_name, path, pattern, read, chars: 0, used: false, turn: 0, relation: "recent", score: 0 };
}

const byScore = (a: Evidence, b: Evidence) => b.score - a.score || b.seq - a.seq;

/** The newest few entries of each key. */
function keyed() {
  const lists = new Map<string, Evidence[]>();
  return {
    add(key: string, evidence: Evidence): void {
      const list = lists.get(key);
      if (!list) lists.set(key, [evidence]);
      else if (list.at(-1) !== evidence) {
        list.push(evidence);
        if (list.length > PER_KEY) list.shift();
      }
    },
    of: (key: string): readonly Evidence[] => lists.get(key) ?? NONE,
  };
}
const NONE: readonly Evidence[] = [];

function patternOf(input: Json | undefined): string | null {
  if (!isRecord(input)) return null;
  for (const key of ["pattern", "query", "regex", "search_term", "glob_pattern", "searchTerm"]) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return value.slice(0, 300);
  }
  return null;
}
