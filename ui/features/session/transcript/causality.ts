/** Why a change was made: which reads went before it, and back. */
import type { CausalityAnswer } from "../../../wire.ts";

export type Cause = CausalityAnswer["changes"][number]["causes"][number];
/** Further apart than this is "long before". */
export const SHORT = 60;

export interface Causality {
  /** Changes of files, in order. */
  changes: { seq: number; path: string }[];
  /** By seq of the change. */
  causes: Map<number, Cause[]>;
  /** By seq of the read: changes it led to. */
  effects: Map<number, { seq: number; path: string }[]>;
  wasted: CausalityAnswer["wastedReads"];
}

export function toCausality(answer: CausalityAnswer): Causality {
  const causality: Causality = {
    changes: answer.changes.map(({ seq, path }) => ({ seq, path })),
    causes: new Map(),
    effects: new Map(),
    wasted: answer.wastedReads,
  };
  for (const change of answer.changes) {
    const known = causality.causes.get(change.seq) ?? [];
    causality.causes.set(change.seq, [...known, ...change.causes]);
    for (const cause of change.causes) {
      const list = causality.effects.get(cause.seq) ?? [];
      if (!list.some((one) => one.seq === change.seq)) list.push({ seq: change.seq, path: change.path });
      causality.effects.set(cause.seq, list);
    }
  }
  return causality;
}
