/**
 * What the sessions of a run of blocks add up to, by what they have in common: a report over very many sessions goes through these where all of
 * a run lies in its range, and through the sessions themselves elsewhere. Made when somebody asks, and kept as long as the run: of a session that
 * changed those of its block and of its span are made again.
 */
import type { UsageEvidence } from "sessarc";
import { modelName } from "../prices/names.ts";
import type { Run } from "./block.ts";
import type { Blocks } from "./blocks.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";
import { addEvidence, noEvidence } from "./rollup.ts";
import { at, Heads, Work } from "./tally.ts";

/** One model's tokens. */
export class ModelShare {
  /** Sessions of which it is the first of its spellings: so that each counts once where they are one row. */
  readonly heads = new Heads();
  readonly tokens = new Float64Array(FIELDS.length);
}

/** Calls of one name, and how many failed. */
export interface CallSums {
  calls: number;
  errors: number;
}

/** Of the sessions of one origin that have a quarter-hour. */
export class Share extends Work {
  readonly heads = new Heads();
  readonly evidence: UsageEvidence = noEvidence();
  /** By its number. */
  readonly models = new Map<number, ModelShare>();
  /** By name of what was called. */
  readonly calls = new Map<string, CallSums>();

  addCalls(name: string, calls: number, errors: number): void {
    const sum = at(this.calls, name, () => ({ calls: 0, errors: 0 }));
    sum.calls += calls;
    sum.errors += errors;
  }
  add(other: Share): void {
    this.addWork(other.messages, other.activeMs, other.errors);
    this.heads.add(other.heads);
    addEvidence(this.evidence, other.evidence);
    for (const [number, { heads, tokens }] of other.models) {
      const model = at(this.models, number, () => new ModelShare());
      model.heads.add(heads);
      for (let field = 0; field < tokens.length; field++)
        model.tokens[field] = (model.tokens[field] as number) + (tokens[field] as number);
    }
    for (const [name, { calls, errors }] of other.calls) this.addCalls(name, calls, errors);
  }
}

/** By origin. */
export type Shares = ReadonlyMap<number, Share>;

/** Names of sessions with sub-agents that sums of very many hold at most. */
const RELATED = 2_000;

/** Some 0.5 ms a block at first. */
export const sharesOf = keptOfRuns<Shares>(
  addUp,
  (parts) => {
    const all = new Map<number, Share>();
    for (const part of parts) for (const [origin, share] of part) at(all, origin, () => new Share()).add(share);
    return all;
  },
  (parts) => {
    let related = 0;
    for (const part of parts) for (const { heads } of part.values()) related += heads.related;
    return related <= RELATED;
  },
);

/**
 * What is kept of runs: of a block it is made from its sessions (`ofBlock`), of a span from what its parts have. Undefined: ask for its parts.
 * `isSmall`: such parts make one that does not grow with the sessions; of spans of those it is kept as well, once each part was asked for, so
 * that no turn makes much.
 */
export function keptOfRuns<T>(
  ofBlock: (blocks: Blocks, n: number) => T,
  together: (parts: Iterable<T>) => T,
  isSmall: (parts: readonly T[]) => boolean = () => false,
): (blocks: Blocks, run: Run) => T | undefined {
  const made = new WeakMap<Run, T>();
  const keep = (run: Run, value: T): T => {
    made.set(run, value);
    return value;
  };
  const ofOne = (blocks: Blocks, run: Run) => made.get(run) ?? keep(run, ofBlock(blocks, run.start));
  return (blocks, run) => {
    const known = made.get(run);
    if (known !== undefined) return known;
    if (run.parts.length === 0) return ofOne(blocks, run);
    const isWide = run.parts.some(({ parts }) => parts.length > 0);
    const values: T[] = [];
    for (const part of run.parts) {
      const value = isWide ? made.get(part) : ofOne(blocks, part);
      if (value === undefined) return undefined;
      values.push(value);
    }
    if (isWide && !isSmall(values)) return undefined;
    return keep(run, together(values));
  };
}

function addUp(blocks: Blocks, n: number): Shares {
  const block = blocks.block(n);
  const shares = new Map<number, Share>();
  for (let i = 0; i < block.length; i++) {
    if (block.isEmpty(i)) continue;
    const share = at(shares, block.origin[i] as number, () => new Share());
    share.addWork(block.work[i * 3] as number, block.work[i * 3 + 1] as number, block.work[i * 3 + 2] as number);
    block.addEvidence(i, share.evidence);
    blocks.session(n, i).eachTool((name, calls, errors) => share.addCalls(name, calls, errors));
    const root = blocks.rootOf(n, i);
    share.heads.count(root);
    const names: string[] = [];
    for (let row = block.starts[i] as number; row < (block.starts[i + 1] as number); row++) {
      const number = block.models[row] as number;
      const model = at(share.models, number, () => new ModelShare());
      block.addTokens(row, model.tokens);
      const name = modelName(nameOf(number));
      if (names.includes(name)) continue;
      names.push(name);
      model.heads.count(root);
    }
  }
  return shares;
}
