/** Who asks, and what they may. */
import { SessarcError } from "sessarc";

/** `push`: sends its own sessions. `read`: reads the spaces of its person. `own`: manages people, machines and spaces. */
export const SCOPES = ["push", "read", "own"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Space {
  id: number;
  name: string;
  kind: "private" | "team" | "project";
  /** The person's own private space. */
  mine: boolean;
}

/** What proves it: a machine's key, a browser's sign-in link, or a read token. */
type Proof = "machine" | "browser" | "token";

export interface Caller {
  tenant: number;
  proof: Proof;
  person: { id: string; name: string };
  /** Id of the machine, or of the read token: what the access log names. */
  device: string;
  machine: string;
  scopes: readonly Scope[];
  spaces: readonly Space[];
}

export const readScopes = (text: string): Scope[] => SCOPES.filter((scope) => text.split(",").includes(scope));

/** Throws TEAM_FORBIDDEN for a browser and a read token: what outlives them is made by a machine. */
export function needMachine(caller: Caller): void {
  if (caller.proof !== "machine") throw new SessarcError("TEAM_FORBIDDEN", { needs: "a machine's own key" });
}

/** Throws TEAM_FORBIDDEN. */
export function need(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope)) throw new SessarcError("TEAM_FORBIDDEN", { needs: `the right \`${scope}\`` });
}
