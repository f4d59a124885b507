/** What the assistant read, indexed by file, by folder and by name. */

import { alone } from "sessarc";
import { toPlace } from "./paths.ts";
import type { Relation } from "./relations.ts";

/** Something the assistant read. */
export interface Evidence {
  seq: number;
  tool_name: string;
  path: string | null;
  /** Of the path (`PathPlace`); empty without one. */
  stem: string;
  pattern: string | null;
  read: boolean;
  /** Characters of the result. */
  chars: number;
  /** It is among the causes of a change by more than being recent. */
  used: boolean;
  /** Number of the change it was last considered for, and as what. */
  turn: number;
  relation: Relation;
  score: number;
}

/** Newest entries kept of each kind. */
const PER_KEY = 8;

/** A file with what is known of it; files of one folder, and of one name, share a list. */
interface Spot {
  stem: string;
  reads: Recent;
  /** Searches that found it, and failures that name it. */
  found: Recent;
  failed: Recent;
  inFolder: Recent;
  /** Undefined for a name too short to say anything. */
  namesakes: Recent | undefined;
}

/** The newest few. Empty ones are all the same list until something comes in. */
class Recent {
  list: Evidence[] = NONE;

  /** False when it is the newest already. */
  add(evidence: Evidence): boolean {
    const { list } = this;
    if (list.length === 0) this.list = [evidence];
    else if (list[list.length - 1] === evidence) return false;
    else {
      list.push(evidence);
      if (list.length > PER_KEY) list.shift();
    }
    return true;
  }
}
const NONE: Evidence[] = [];

interface Trail {
  /** The spot of a path as a call names it; one lookup for a name seen before. */
  spot(raw: string): Spot;
  /** The path in memory of its own. */
  name(raw: string): string;
}

/** Grows with the number of different names. `cwd` is what relative paths are relative to. */
export function createTrail(cwd: string): Trail {
  const names = new Map<string, { name: string; spot: Spot }>();
  const spots = new Map<string, Spot>();
  const folders = new Map<string, Recent>();
  const stems = new Map<string, Recent>();
  const toList = (map: Map<string, Recent>, key: string): Recent => {
    let list = map.get(key);
    if (!list) {
      list = new Recent();
      map.set(key, list);
    }
    return list;
  };
  const find = (raw: string) => {
    const known = names.get(raw);
    if (known) return known;
    const name = alone(raw);
    const { path, dir, stem } = toPlace(name, cwd);
    let spot = spots.get(path);
    if (!spot) {
      spot = {
        stem,
        reads: new Recent(),
        found: new Recent(),
        failed: new Recent(),
        inFolder: toList(folders, dir),
        namesakes: stem.length > 1 ? toList(stems, stem) : undefined,
      };
      spots.set(path, spot);
    }
    const entry = { name, spot };
    names.set(name, entry);
    return entry;
  };
  return { spot: (raw) => find(raw).spot, name: (raw) => find(raw).name };
}
