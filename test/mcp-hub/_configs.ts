/** A home with configuration files of all tools, and the routes over them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import claudeCode from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import geminiCli from "../../plugins/gemini-cli/index.ts";
import type { WireBackup, WireDiff, WireScan, WireScanEntry } from "../../plugins/mcp-hub/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import type { TestKernel, TestKernelOptions } from "../kernel.ts";
import { startHub } from "./_hub.ts";

export interface TakeoverAnswer {
  dryRun: boolean;
  imported: { key: string; service: string; action: string }[];
  backups: { id: string; file: string; sha256: string }[];
  diffs: WireDiff[];
}

export const ADAPTERS = () => [claudeCode(), codex(), cursor(), geminiCli(), opencode(), copilot()];

export async function startConfigs(options: TestKernelOptions = {}) {
  const t = await startHub({ ...options, plugins: [...ADAPTERS(), ...(options.plugins ?? [])] });
  return { ...t, ...over(t) };
}

export function over(t: TestKernel) {
  const put = async (path: string, content: string | Uint8Array) => {
    const file = join(t.home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  };
  const scan = () => t.json<WireScan>("/api/mcp/scan");
  const takeover = (entries: readonly WireScanEntry[], body: object = {}) =>
    t.send<TakeoverAnswer & { code?: string; message?: string }>("POST", "/api/mcp/takeover", {
      entries: entries.map(({ key }) => ({ key })),
      fileHashes: Object.fromEntries(entries.map(({ file, fileHash }) => [file, fileHash])),
      mode: "replace",
      ...body,
    });
  return {
    put,
    read: (path: string) => readFile(join(t.home, path), "utf8"),
    scan,
    takeover,
    takeAll: async (body: object = {}) =>
      takeover(
        (await scan()).entries.filter(({ importable }) => importable),
        body,
      ),
    backups: async () => (await t.json<{ backups: WireBackup[] }>("/api/mcp/backups")).backups,
    restore: (ids: readonly string[], body: object = {}) =>
      t.send<{ restored: { id: string; file: string }[]; diffs: WireDiff[]; code?: string }>(
        "POST",
        "/api/mcp/restore",
        {
          ids,
          ...body,
        },
      ),
  };
}

export type Configs = Awaited<ReturnType<typeof startConfigs>>;

export const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
export const claude = (mcpServers: object, more: object = {}) => json({ numStartups: 3, mcpServers, ...more });
export const shapes = (entries: readonly WireScanEntry[]) =>
  entries.map(({ name, class: of, conflict }) => [name, of, conflict]);
export const services = (t: Configs) => t.kernel.inject("mcp").services;
