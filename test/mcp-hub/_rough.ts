/** The server that behaves badly, and how to see what became of it. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";

/** Of a wait for another process: only for what never comes. */
const LIMIT = { timeout: 120_000 };

const ROUGH = fileURLToPath(new URL("rough-server.mjs", import.meta.url));

/** As a service: how it behaves, and the file it notes things down in. */
export const rough = (...args: string[]) => ({ command: process.execPath, args: [ROUGH, ...args] });

/** The lines it noted down, once `enough` of them are there. */
export function readLines(file: string, enough: (lines: string[]) => boolean): Promise<string[]> {
  return vi.waitFor(async () => {
    const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
    expect(enough(lines)).toBe(true);
    return lines;
  }, LIMIT);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export const toPids = (lines: readonly string[]) =>
  lines.flatMap((line) => (line.startsWith("pid ") ? [Number(line.slice(4))] : []));

/** Resolves when a process is gone. There is no event for one that is not ours. */
export const gone = (pid: number) => vi.waitFor(() => expect(isAlive(pid)).toBe(false), LIMIT);
