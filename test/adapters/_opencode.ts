/** OpenCode's folder in a fresh home for each test. */
import { join } from "node:path";
import type { SessionEvent } from "sessarc";
import { beforeEach } from "vitest";
import opencode from "../../plugins/opencode/index.ts";
import { home, useHome } from "./_home.ts";

/** Of the test that runs: `~/.local/share/opencode`. */
export let data: string;

/** Called once by each file: modules are shared among files, hooks are not. */
export function useOpenCode(): void {
  useHome("opencode");
  beforeEach(() => {
    data = join(home, ".local", "share", "opencode");
  });
}

export const create = (dir?: string) => opencode(dir === undefined ? undefined : { dir }).adapter;
export const db = () => join(data, "opencode.db");
export const toKinds = (events: readonly SessionEvent[]) => {
  const kinds: Record<string, number> = {};
  for (const event of events) kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
  return kinds;
};
export const USAGE = { input: 100, output: 15, cacheRead: 12, cacheWrite5m: 4, cacheWrite1h: 0 };
export const twice = (usage: typeof USAGE) =>
  Object.fromEntries(Object.entries(usage).map(([name, n]) => [name, n * 2]));
