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

export interface Caller {
  tenant: number;
  person: { id: string; name: string };
  device: string;
  machine: string;
  machineName: string;
  scopes: readonly Scope[];
  spaces: readonly Space[];
}

export const readScopes = (text: string): Scope[] => SCOPES.filter((scope) => text.split(",").includes(scope));

/** Throws TEAM_FORBIDDEN. */
export function need(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope)) throw new SessarcError("TEAM_FORBIDDEN", { needs: `the right \`${scope}\`` });
}
