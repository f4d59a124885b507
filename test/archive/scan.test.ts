/** Where the scan lists a session is where the import puts it. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
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
