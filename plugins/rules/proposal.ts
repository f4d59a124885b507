/** A proposal: as it is shown, and as this plugin has it. */
import type { Evidence, Finding } from "./find/finding.ts";
import type { Instructions } from "./instructions/place.ts";
import type { Proof } from "./proof.ts";

/** A line that would have kept a recurring mistake away. */
export interface Proposal {
  id: string;
  project: { id: string; name: string };
  kind: Finding["kind"];
  /** As it would be written, without its list mark. */
  line: string;
  /** About how many tokens it costs at the start of each session: a quarter of its characters. */
  tokens: number;
  /** The file it would be written into; null where the project has no folder on this machine. */
  path: string | null;
  /** How often the mistake was seen, and in how many sessions. */
  times: number;
  sessions: number;
  /** About how many tokens the failed calls took. */
  wasted: number;
  /** The newest 20, secrets masked. */
  evidence: Evidence[];
  /** Of the last proof of this line; null where there was none. */
  proof: Proof | null;
}

/** A proposal with what only this plugin needs. */
export interface OpenProposal {
  shown: Proposal;
  finding: Finding;
  instructions: Instructions | null;
}
