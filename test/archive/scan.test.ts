/** Where the scan lists a session is where the import puts it. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defineAdapter } from "sessarc";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import { deferred } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";

interface Group {
  key: string;
  name: string;
  virtual: boolean;
  sessions: { id: string }[];
}

it("lists chats without a folder under the projects they will be in, before they are imported", async () => {
  const t = await createTestKernel({ plugins: [archive(), gemini(), copilot()] });
  const write = async (path: string, value: object) => {
    await mkdir(dirname(join(t.home, path)), { recursive: true });
    await writeFile(join(t.home, path), JSON.stringify(value));
  };
  const at = "2026-11-20T10:00:00.000Z";
  for (const hash of ["ab", "cd"])
    await write(`.gemini/tmp/${hash.repeat(32)}/chats/session-2026-11-20T10-00-${hash}.json`, {
      sessionId: hash,
      startTime: at,
      messages: [{ id: "1", type: "user", timestamp: at, content: "hi" }],
    });
  await write(".config/Code/User/globalStorage/emptyWindowChatSessions/one.json", {
    creationDate: Date.parse(at),
    requests: [{ message: { text: "hi" }, timestamp: Date.parse(at), response: [] }],
  });
  const scan = async () =>
    (await t.json<{ projects: Group[] }>("/api/scan")).projects
      .map(({ key, name, virtual, sessions }) => ({ key, name, virtual, ids: sessions.map((one) => one.id) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  const before = await scan();
  expect(before.map((one) => [one.name, one.virtual])).toEqual([
    ["Gemini CLI abababab", true],
    ["Gemini CLI cdcdcdcd", true],
    ["VS Code (no folder)", true],
  ]);
  expect((await t.send("POST", "/api/import", { projects: [before[0]?.key] })).body).toMatchObject({ imported: 1 });
  expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 2, unchanged: 1 });
  expect(await scan()).toEqual(before);
});

it("a scan holds what was there when it was asked for, also while another one is under way", async () => {
  const keys = ["one"];
  const gates: (() => void)[] = [];
  let begun = deferred();
  const adapter = defineAdapter(() => ({
    name: "gated",
    label: "Gated",
    roots: ({ home }) => [home],
    async *scan(root) {
      const there = keys.map((key) => ({ tool: "gated", key, path: join(root, key) }));
      begun.resolve();
      await new Promise<void>((open) => gates.push(open));
      yield* there;
    },
    // biome-ignore lint/correctness/useYield: an empty log
    async *read() {
      return { usage: {}, messageCount: 0 };
    },
  }));
  const t = await createTestKernel({ plugins: [archive(), adapter()] });
  const { importer } = t.kernel.inject("archive");
  const first = importer.scan();
  await begun.promise;
  keys.push("two");
  begun = deferred();
  const later = [importer.scan(), importer.scan()];
  gates.pop()?.();
  expect([...(await first).found.keys()]).toEqual(["gated:one"]);
  await begun.promise;
  expect(gates).toHaveLength(1);
  gates.pop()?.();
  for (const scan of await Promise.all(later)) expect([...scan.found.keys()]).toEqual(["gated:one", "gated:two"]);
  expect(importer.lastScan?.found.size).toBe(2);
});
