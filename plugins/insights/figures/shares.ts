/**
 * What the sessions of a block add up to, by what they have in common: a report over very many sessions goes through these where all of a block
 * lies in its range, and through the sessions themselves elsewhere. Made when somebody asks, and kept as long as the block.
 */
import type { UsageEvidence } from "sessarc";
import { modelName } from "../prices/names.ts";
import type { Block, Blocks } from "./blocks.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";
import { noEvidence } from "./rollup.ts";
import { at, Heads, Work } from "./tally.ts";

/** One model's tokens. */
export class ModelShare {
  /** Sessions of which it is the first of its spellings: so that each counts once where they are one row. */
  readonly heads = new Heads();
  readonly tokens = new Float64Array(FIELDS.length);
}

/** Of the sessions of one origin that have a quarter-hour. */
export class Share extends Work {
  readonly heads = new Heads();
  readonly evidence: UsageEvidence = noEvidence();
  /** By its number. */
  readonly models = new Map<number, ModelShare>();
}

const made = new WeakMap<Block, ReadonlyMap<number, Share>>();

/** By origin. Some 0.2 ms at first. */
export function sharesOf(blocks: Blocks, n: number): ReadonlyMap<number, Share> {
  const block = blocks.block(n);
  let shares = made.get(block);
  if (!shares) {
    shares = addUp(block, (i) => blocks.rootOf(n, i));
    made.set(block, shares);
  }
  return shares;
}

function addUp(block: Block, rootOf: (i: number) => string | undefined): ReadonlyMap<number, Share> {
  const shares = new Map<number, Share>();
  for (let i = 0; i < block.length; i++) {
    if (block.isEmpty(i)) continue;
    const share = at(shares, block.origin[i] as number, () => new Share());
    share.addWork(block.work[i * 3] as number, block.work[i * 3 + 1] as number, block.work[i * 3 + 2] as number);
    block.addEvidence(i, share.evidence);
    const root = rootOf(i);
    share.heads.count(root);
    const names: string[] = [];
    for (let row = block.from[i] as number; row < (block.from[i + 1] as number); row++) {
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
