import { homedir } from "node:os";
import type { AdapterEnv } from "../contract/adapter.ts";

/** The machine as it is: HOME from the environment first, as the assistants themselves do. */
export function machineEnv(): AdapterEnv {
  return { home: process.env.HOME || homedir(), platform: process.platform, env: { ...process.env } };
}
