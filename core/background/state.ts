/** `service.json`: what is known of the service in the background. Written by its supervisor, read by commands and GET /status. */
import { join } from "node:path";
import { writeFileAtomic } from "../utils/atomic.ts";
import { ifThere } from "../utils/gone.ts";
import { readRegular } from "../utils/regular.ts";

export interface Restart {
  /** ISO 8601 UTC. */
  at: string;
  /** `exit code 7`, `signal SIGSEGV`. */
  how: string;
  /** The last lines that the service wrote. */
  reason: string;
}

export interface ServiceState {
  /** The supervisor's. */
  pid: number;
  /** Of sessarc, when the supervisor started. */
  version: string;
  /** ISO 8601 UTC. */
  startedAt: string;
  /** What `serve` was started with. */
  args: string[];
  /** The newest last, ten at most. */
  restarts: Restart[];
  /** Why the supervisor ended without being asked to; absent while it runs and after an orderly end. */
  ended?: Restart;
}

/** Variable of the service that a supervisor runs. */
export const BACKGROUND = "SESSARC_BACKGROUND";
const FILE = "service.json";

/** Undefined when there is none, or one that cannot be read as such. */
export async function readState(dataDir: string): Promise<ServiceState | undefined> {
  const text = await ifThere(readRegular(join(dataDir, FILE))).catch(() => undefined);
  try {
    const value = JSON.parse(text ?? "") as Partial<ServiceState> | null;
    const isState = typeof value?.pid === "number" && Array.isArray(value.args) && Array.isArray(value.restarts);
    return isState ? (value as ServiceState) : undefined;
  } catch {
    return undefined;
  }
}

export const writeState = (dataDir: string, state: ServiceState): Promise<void> =>
  writeFileAtomic(join(dataDir, FILE), `${JSON.stringify(state, null, 2)}\n`);

/** A folder with a lock of its own: one supervisor a data directory, however many are started. */
export const supervisorFolder = (dataDir: string): string => join(dataDir, "supervisor");
