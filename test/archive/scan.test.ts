/** Where the scan lists a session is where the import puts it. */
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { defineAdapter } from "sessarc/adapter";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import { deferred, makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { childScript } from "../scripts.ts";

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
      const there = keys.map((key) => ({ key, path: join(root, key) }));
      begun.resolve();
      await new Promise<void>((open) => gates.push(open));
      yield* there;
    },
    parse: () => ({ row: () => undefined, finish: () => ({ usage: {}, messageCount: 0 }) }),
  }));
  const t = await createTestKernel({ plugins: [archive(), adapter()] });
  const { importer } = t.kernel.inject("archive/open");
  const first = importer.scan();
  await begun.promise;
  keys.push("two");
  begun = deferred();
  const later = [importer.scan(), importer.scan()];
  const toIds = ({ found }: Awaited<(typeof later)[number]>) => [...found.values()].map(({ id }) => id);
  gates.pop()?.();
  expect(toIds(await first)).toEqual(["gated:one"]);
  await begun.promise;
  expect(gates).toHaveLength(1);
  gates.pop()?.();
  for (const scan of await Promise.all(later)) expect(toIds(scan)).toEqual(["gated:one", "gated:two"]);
  expect(importer.lastScan?.found.size).toBe(2);
});

const isRoot = process.getuid?.() === 0;
it.skipIf(process.platform === "win32")("a folder that may not be read is reported by scan and doctor", async () => {
  const home = await makeTempDir();
  const open = join(home, ".claude/projects/-w-open");
  const shut = join(home, ".claude/projects/-w-shut");
  const row = JSON.stringify({ type: "user", uuid: "u", message: { role: "user", content: "x" } });
  for (const [n, folder] of [open, shut].entries()) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `aaaaaaaa-0000-4000-8000-00000000000${n}.jsonl`), `${row}\n`);
  }
  const dataDir = join(home, "data");
  await mkdir(dataDir);
  const script = await childScript("archive/closed-child");
  // Root may read everything: then another user reads.
  if (isRoot) {
    await chown(dataDir, 65_534, 65_534);
    await chmod(home, 0o755);
  }
  await chmod(shut, 0);
  onTestFinished(() => chmod(shut, 0o755));
  const { stdout } = await promisify(execFile)(process.execPath, [...script, home, dataDir], {
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
    env: { HOME: dataDir },
  });
  const { scan, doctor } = JSON.parse(stdout) as {
    scan: { tools: { sessions: number; problems: { path: string }[] }[] };
    doctor: { checks: { name: string; status: string; detail: string }[] };
  };
  expect(scan.tools[0]).toMatchObject({ sessions: 1, problems: [{ path: shut }] });
  expect(doctor.checks).toContainEqual(
    expect.objectContaining({ name: "claude-code", status: "warn", detail: expect.stringContaining(shut) }),
  );
});
