/** `SESSARC_REAL="codex@0.160.0 gemini-cli"`: the picked tools, with a version where one is named; without it all in their newest. */
import type { Driver } from "./tools/types.ts";

const picked = new Map(
  (process.env.SESSARC_REAL ?? "").split(/[\s,]+/).flatMap((one) => {
    const [name = "", version] = one.split("@");
    return name === "" ? [] : [[name, version] as const];
  }),
);

export const isPicked = ({ name }: Driver): boolean => picked.size === 0 || picked.has(name);

/** `SESSARC_REAL_NODE=22`: the major version of Node for every picked tool. Without it the driver's, else the one that runs the tests. */
export const nodeFor = ({ node }: Driver): string | undefined => process.env.SESSARC_REAL_NODE || node;

/** Undefined for the newest. */
export const findVersion = ({ name }: Driver): string | undefined => picked.get(name);
