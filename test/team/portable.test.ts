/** A session that leaves an archive counts in another one as it did here, whatever arrives before it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { Arrivals, readCounted, readMessages, writeAll } from "./portable.ts";

const fixtures = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const ADAPTERS: Record<string, () => AdapterPlugin> = { claude, codex, copilot, cursor, gemini, opencode };

const adapters = () => Object.values(ADAPTERS).map((make) => make());

/** A kernel that reads what has arrived. */
async function server(arrivals: Arrivals): Promise<TestKernel> {
  return createTestKernel({ plugins: [archive(), ...adapters().map((one) => arrivals.adapter(one))] });
}

async function expectEqual(t: TestKernel): Promise<void> {
  const chunks = new Map<string, Buffer>();
  const manifests = await writeAll(t, chunks);
  expect(manifests.length).toBeGreaterThan(5);
  const there = await readCounted(t);
  for (const sign of [1, -1]) {
    const arrivals = new Arrivals(chunks);
    const other = await server(arrivals);
    for (const manifest of sign > 0 ? manifests : manifests.toReversed())
      await arrivals.take(other, { machine: "", manifest });
    expect([sign, ...(await readCounted(other))]).toEqual([sign, ...there]);
    for (const { id } of manifests) expect(await readMessages(other, id)).toEqual(await readMessages(t, id));
    await other.close();
  }
}

it("sample sessions of six assistants", async () => {
  const home = await makeTempDir();
  await writeDemo({ home });
  const t = await createTestKernel({ home, plugins: [archive(), ...adapters()] });
  await t.send("POST", "/api/import", { all: true });
  await expectEqual(t);
});

describe.skipIf(!existsSync(join(fixtures, "EXPECTED.json")))("logs written by the assistants themselves", () => {
  it("are the same sessions", async () => {
    const t = await createTestKernel({ plugins: [archive(), ...adapters()] });
    const folders: Record<string, string[]> = {
      "claude-code": ["claude"],
      codex: ["codex"],
      copilot: ["copilot-cli", "copilot-vscode"],
      cursor: ["cursor"],
      "gemini-cli": ["gemini"],
      opencode: ["opencode"],
    };
    for (const [name, from] of Object.entries(folders))
      t.kernel.registry.setFolders(name, {
        own: false,
        dirs: from.flatMap((one) => foldersBelow(join(fixtures, one), 4)),
      });
    await t.send("POST", "/api/import", { all: true });
    await expectEqual(t);
  });
});

function foldersBelow(path: string, depth: number): string[] {
  if (depth === 0) return [];
  const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [path, ...below.flatMap(({ name }) => foldersBelow(join(path, name), depth - 1))];
}
