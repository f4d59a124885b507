/** Cursor's folders in a fresh home for each test. */
import { join } from "node:path";
import { beforeEach } from "vitest";
import cursor from "../../plugins/cursor/index.ts";
import { home, useHome } from "./_home.ts";

/** Of the test that runs: Cursor's `User` folder, and `~/.cursor`. */
export let user: string;
export let dot: string;

/** Called once by each file: modules are shared among files, hooks are not. */
export function useCursor(): void {
  useHome("cursor");
  beforeEach(() => {
    user = join(home, ".config", "Cursor", "User");
    dot = join(home, ".cursor");
  });
}

export const create = (dir?: string) => cursor(dir === undefined ? undefined : { dir }).adapter;
export const globalDb = () => join(user, "globalStorage", "state.vscdb");
