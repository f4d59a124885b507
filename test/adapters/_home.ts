/** A fresh home for each test of a file, and what an adapter finds and reads there. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionEvent } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { afterEach, beforeEach } from "vitest";
import { drain, drainTail, scanAll } from "../adapter/bench.ts";

export { drain, drainTail };

/** Of the test that runs. */
export let home: string;
export let env: AdapterEnv;

/** Called once by each file: modules are shared among files, hooks are not. */
export function useHome(tool: string): void {
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), `sessarc-${tool}-`));
    env = { home, platform: "linux", env: {} };
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
}

export const scan = (adapter: Adapter, on: AdapterEnv = env) => scanAll(adapter, on);

export async function readAll(adapter: Adapter, on: AdapterEnv = env) {
  const all = [];
  for (const ref of await scan(adapter, on)) all.push({ ref, ...(await drain(adapter.read(ref, on))) });
  return all;
}

export const shape = (events: readonly SessionEvent[]) => events.map((event) => [event.kind, event.text]);
