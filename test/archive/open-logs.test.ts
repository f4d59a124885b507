/** Logs that grow stay open: what is stored is what a reading of the whole log gives, also when an open log is lost. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { definePlugin } from "sessarc";
import { beforeEach, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

let home: string;
beforeEach(async () => {
  home = await makeTempDir();
});

const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const id = (n: number) => `claude-code:${uuid(n)}`;
const log = (n: number) => join(home, ".claude/projects/-w", `${uuid(n)}.jsonl`);
const started = Date.now() - 3_600_000;
let rows = 0;
const turn = (text: string) => {
  rows++;
  const fields = { timestamp: new Date(started + rows * 1000).toISOString(), cwd: "/w", requestId: `r${rows}` };
  const content = [
    { type: "text", text },
    { type: "tool_use", id: `t${rows}`, name: "Edit", input: { file_path: `/w/${text}` } },
  ];
  const usage = { input_tokens: 10, output_tokens: 20 };
  const message = { id: `m${rows}`, role: "assistant", model: "claude-haiku-4-5", content, usage };
  return `${JSON.stringify({ type: "assistant", uuid: `u${rows}`, ...fields, message })}\n`;
};
async function write(n: number, text: string) {
  await mkdir(dirname(log(n)), { recursive: true });
  await writeFile(log(n), text);
}

const start = (dataDir: string, ...plugins: ReturnType<typeof stopping>["plugin"][]) =>
  createTestKernel({ home, plugins: [...defaultPlugins(), ...plugins], config: { sync: false, dataDir } });
const sync = (t: TestKernel) => t.send("POST", "/api/sync?wait=1", {});

/** All that the archive has of a session, but when and how it was stored. */
async function stored(t: TestKernel, n: number) {
  const { session } = await t.json<{ session: object }>(`/api/sessions/${encodeURIComponent(id(n))}`);
  const { messages } = await t.json<{ messages: object[] }>(`/api/sessions/${encodeURIComponent(id(n))}/messages`);
  const { db } = t.kernel.storage;
  const blame = await db.all("select * from blame_file where session = ? order by path", [id(n)]);
  return {
    session: { ...session, importedAt: "" },
    messages,
    facts: await t.kernel.inject("archive").facts(id(n)),
    blame,
  };
}

async function asWhole(n: number) {
  const t = await start(await makeTempDir());
  await t.send("POST", "/api/import", { all: true });
  const whole = await stored(t, n);
  await t.close();
  return whole;
}

/** Ends runs while `on`, after the logs were read. */
function stopping() {
  const state = { on: false };
  const plugin = definePlugin({
    name: "stopping",
    dependsOn: ["archive"],
    setup(kernel) {
      kernel.hooks.hook("session:replace", () => {
        if (state.on) throw new Error("stopped here");
      });
    },
  })();
  return { state, plugin };
}

it("a log whose last reading was not stored loses and repeats nothing", async () => {
  const { state, plugin } = stopping();
  const t = await start(await makeTempDir(), plugin);
  await write(1, turn("a") + turn("b"));
  await t.send("POST", "/api/import", { all: true });
  await appendFile(log(1), turn("c"));
  await sync(t);
  await appendFile(log(1), turn("d"));
  state.on = true;
  expect((await sync(t)).status).toBe(500);
  t.errors.length = 0;
  state.on = false;
  await appendFile(log(1), turn("e"));
  await sync(t);
  expect(await stored(t, 1)).toEqual(await asWhole(1));
  await appendFile(log(1), turn("f"));
  await sync(t);
  expect(await stored(t, 1)).toEqual(await asWhole(1));
});

it("more logs that grow than stay open", async () => {
  const t = await start(await makeTempDir());
  const all = Array.from({ length: 22 }, (_, n) => n);
  for (const n of all) await write(n, turn("a") + turn("b"));
  await t.send("POST", "/api/import", { all: true });
  for (let round = 0; round < 2; round++)
    for (const n of all) {
      await appendFile(log(n), turn(`round ${round}`));
      await sync(t);
    }
  for (const n of [0, 11, 21]) expect(await stored(t, n)).toEqual(await asWhole(n));
});

it("a log that is replaced, cut or rewritten while it is open is read whole", async () => {
  const t = await start(await makeTempDir());
  const [a, b, c] = [turn("a"), turn("b"), turn("c")];
  await write(1, a + b);
  await t.send("POST", "/api/import", { all: true });
  await appendFile(log(1), c);
  await sync(t);
  // As long as before, with another beginning.
  await write(1, a.replace("/w/a", "/w/x") + b + c);
  await sync(t);
  await appendFile(log(1), turn("d"));
  await sync(t);
  const { messages } = await stored(t, 1);
  expect(messages).toEqual((await asWhole(1)).messages);
  await write(1, a);
  await sync(t);
  await appendFile(log(1), b);
  await sync(t);
  expect((await stored(t, 1)).messages).toEqual((await asWhole(1)).messages);
});
