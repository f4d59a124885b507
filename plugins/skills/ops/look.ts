/** The last upstream check, as stored with a skill. */
import type { SkillRow } from "../store/catalog.ts";

export interface SkillLook {
  /** ms. */
  at: number;
  commit: string;
  /** git's id of the skill's folder there; null when it is gone. */
  tree: string | null;
  skillChanged: boolean;
  /** Object that holds the entries (JSON); null when the version cannot be taken. */
  manifest: string | null;
  /** Why not. */
  problem: string | null;
}

export const readLook = (row: Pick<SkillRow, "upstream">): SkillLook | undefined =>
  row.upstream === null ? undefined : (JSON.parse(row.upstream) as SkillLook);
