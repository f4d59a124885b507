/** The second ring in the product: what the assistants left in a home is found, imported, and read by its id. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Session } from "sessarc/plugins";
import { defaultPlugins } from "sessarc/plugins";
import { expect, it, onTestFinished } from "vitest";
import { createTestKernel } from "../kernel.ts";

/** Folder of fixtures → where the assistant keeps them below the home, and how many sessions they are. */
const PLACES: Record<string, [place: string, sessions: number]> = {
  droid: [".factory", 1],
  dsh: [".dsh", 2],
  gptme: [".local/share/gptme", 1],
  grok: [".grok", 3],
  iflow: [".iflow", 1],
  junie: [".junie", 1],
  kimi: ["", 3],
  pi: [".pi/agent", 2],
  qwen: [".qwen", 3],
  vibe: [".vibe", 1],
};

it("imports what lies in a home, sub-agents with their parents", async () => {
  const home = await mkdtemp(join(tmpdir(), "sessarc-second-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [name, [place]] of Object.entries(PLACES))
    await cp(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), join(home, place), { recursive: true });
  const t = await createTestKernel({ home, plugins: defaultPlugins() });
  const { body } = await t.send<{ failed: unknown[] }>("POST", "/api/import", { all: true });
  expect(body.failed).toEqual([]);

  const { sessions } = await t.json<{ sessions: Session[] }>("/api/sessions?limit=200");
  const counts = Object.entries(PLACES).map(([name]) => [name, sessions.filter((one) => one.tool === name).length]);
  expect(counts).toEqual(Object.entries(PLACES).map(([name, [, count]]) => [name, count]));

  const parent = "kimi:session_0199d000-0000-7000-8000-000000000001";
  const child = await t.json<{ session: Session; messages: unknown[] }>(
    `/api/sessions/${encodeURIComponent(`${parent}/agent-0`)}/messages`,
  );
  expect(child.session.parentId).toBe(parent);
  expect(child.messages).toHaveLength(2);
});
