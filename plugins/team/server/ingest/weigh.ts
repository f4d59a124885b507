/** What a push weighs before it is imported. */
import { SessarcError } from "sessarc";
import type { BlobStore } from "../blobs.ts";
import { toWeight, type Weight } from "./limits.ts";
import { toChunks } from "./manifest-schema.ts";
import type { Push } from "./sessions.ts";

/** What weighs more is read beside the others, which do not wait for it. */
const LARGE = 4 * 2 ** 20;

export const isLarge = ({ sum }: Pick<Weight, "sum">): boolean => sum > LARGE;

export type Weigh = ReturnType<typeof weigher>;

/** What a push weighs: more than a machine sends is refused by TEAM_SESSION_TOO_LARGE, what is missing by TEAM_BLOBS_MISSING. */
export const weigher =
  (blobs: BlobStore) =>
  async ({ person, manifest }: Push): Promise<Weight> => {
    const chunks = toChunks(manifest);
    const sizes = await blobs.sizes(person, chunks);
    const missing = chunks.filter((sha256) => !sizes.has(sha256));
    if (missing.length > 0) throw new SessarcError("TEAM_BLOBS_MISSING", { missing: missing.join(", ") });
    return toWeight(manifest, sizes);
  };
