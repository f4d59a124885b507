/** How something the assistant read may have led to a change: the weight and the explanation. */

/** Weight of each relation. */
export const RELATIONS = {
  "same-file": 1,
  "error-output": 0.85,
  "search-hit": 0.75,
  "same-stem": 0.6,
  "same-directory": 0.4,
  recent: 0.2,
} as const;
export type Relation = keyof typeof RELATIONS;

export interface Cause {
  seq: number;
  tool_name: string;
  path: string | null;
  pattern: string | null;
  /** 0 to 1. */
  score: number;
  relation: Relation;
  reason: string;
}

/** Messages after which half of what nearness adds is left. */
const HALF = 50;

/** Half of a relation's weight stays however long ago; the other half fades with the messages between. */
export function computeScore(relation: Relation, distance: number): number {
  const near = HALF / (HALF + Math.max(0, distance));
  return Math.round(RELATIONS[relation] * (0.5 + 0.5 * near) * 1000) / 1000;
}

/** What was read. */
interface RelationLook {
  seq: number;
  pattern: string | null;
  read: boolean;
}

export function toReason(relation: Relation, evidence: RelationLook, seq: number): string {
  const distance = seq - evidence.seq;
  const ago = `${distance} ${distance === 1 ? "message" : "messages"} before`;
  switch (relation) {
    case "same-file":
      return `Read this file ${ago}`;
    case "error-output":
      return `A call that failed ${ago} names this file`;
    case "search-hit":
      return evidence.pattern === null
        ? `A search ${ago} found this file`
        : `The search for "${evidence.pattern.slice(0, 60)}" ${ago} found this file`;
    case "same-stem":
      return `Read a file of the same name ${ago}`;
    case "same-directory":
      return `Read a file of the same folder ${ago}`;
    case "recent":
      return evidence.read ? `Read another file ${ago}` : `Searched ${ago}`;
  }
}
