/** GET /live/changes: which sessions were stored or removed. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import live, { type ChangeFrame } from "../../plugins/live/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { prompt, reply } from "./_sse.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const ID = `claude-code:${KEY}`;

it("names a session that was stored, stored again, and removed", async () => {
  const home = await makeTempDir();
  const log = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, prompt(0) + reply(1));
  const kernel = await createTestKernel({ home, plugins: [archive(), claude(), live()] });
  const { body } = await kernel.fetch("/api/live/changes");
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<ChangeFrame> => {
    for (;;) {
      const at = text.indexOf("\n\n");
      const line = text.slice(0, at);
      if (at >= 0) text = text.slice(at + 2);
      if (at >= 0 && line.startsWith("data: ")) return JSON.parse(line.slice(6)) as ChangeFrame;
      if (at < 0) text += (await reader?.read())?.value ?? "";
    }
  };
  await kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
  expect(await next()).toEqual({ stored: [ID], removed: [] });
  appendFileSync(log, prompt(2));
  await kernel.fetch("/api/sync?wait=1", { method: "POST" });
  expect(await next()).toEqual({ stored: [ID], removed: [] });
  await kernel.fetch(`/api/sessions/${ID}`, { method: "DELETE" });
  expect(await next()).toEqual({ stored: [], removed: [ID] });
  await reader?.cancel();
});
