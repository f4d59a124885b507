/** The first start: everything is imported, one sentence says what that is, and one question is asked once. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, type RunningService, runCli } from "../built.ts";
import { claudeTurn } from "../claude-turn.ts";
import { runCommand, serveHere } from "../command.ts";

beforeAll(builtPackage);

const SENTENCE = /^[\d,]+ sessions? of \d+ assistants? (?:is|are) safe\./m;

async function home(): Promise<string> {
  const folder = await makeTempDir();
  await writeDemo({ home: folder, now: new Date(), platform: process.platform });
  return folder;
}
async function serve(args: readonly string[], folder: string, ask?: (question: string) => Promise<string | undefined>) {
  const service = await serveHere(args, folder, { PATH: join(folder, "bin") }, ["serve"], ask);
  onTestFinished(() => service.stop().then(() => {}));
  return service;
}
const total = async ({ url }: RunningService) =>
  ((await (await fetch(new URL("/api/sessions?limit=1", url))).json()) as { total: number }).total;

it("imports everything and says in one sentence what is safe and what it cost", async () => {
  const folder = await home();
  const service = await serve([], folder);
  await expect.poll(() => service.stderr()).toMatch(SENTENCE);
  expect(service.stderr()).toMatch(
    /^18 sessions of 6 assistants are safe\. 1 would have been deleted this week\. They cost about \$[\d.]+, \$[\d.]+ this week\.$/m,
  );
  expect(await total(service)).toBe(20);
  await service.stop();
  // Not again.
  const second = await serve([], folder);
  expect(await total(second)).toBe(20);
  expect(second.stderr()).not.toMatch(SENTENCE);
});

it("says how many sessions were deleted before, and how many of their prompts are back, also without any log", async () => {
  const folder = await makeTempDir();
  const typed = (session: number, text: string) =>
    `${JSON.stringify({ display: text, timestamp: Date.UTC(2025, 0, session), project: "/w/app", sessionId: `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d000${session}` })}\n`;
  await mkdir(join(folder, ".claude"), { recursive: true });
  await writeFile(join(folder, ".claude/history.jsonl"), typed(1, "set sail") + typed(1, "and on") + typed(2, "dock"));
  const service = await serve([], folder);
  const said = "2 sessions were deleted before sessarc came; 3 of their prompts are back.";
  await expect.poll(() => service.stderr()).toContain(said);
  expect(service.stderr()).toContain("No logs of any assistant were found.");
  await service.stop();
  const log = join(folder, ".claude/projects/-w-app/one.jsonl");
  await mkdir(dirname(log), { recursive: true });
  const rows = claudeTurn(1).map((row) => `${JSON.stringify(row)}\n`);
  await writeFile(log, rows.join(""));
  const second = await serve([], folder);
  await expect
    .poll(() => second.stderr())
    .toMatch(/^1 session of 1 assistant is safe\. .*2 sessions were deleted before/m);
});

it("an archive that was left empty behaves as on the first start; --no-import leaves it empty", async () => {
  const folder = await makeTempDir();
  const first = await serve([], folder);
  await expect.poll(() => first.stderr()).toContain("No logs of any assistant were found.");
  await first.stop();
  const log = join(folder, ".claude/projects/-w-app/one.jsonl");
  await mkdir(dirname(log), { recursive: true });
  await writeFile(
    log,
    claudeTurn(1)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
  const left = await serve(["--no-import"], folder);
  expect(await total(left)).toBe(0);
  await left.stop();
  const second = await serve([], folder);
  await expect.poll(() => second.stderr()).toMatch(/^1 session of 1 assistant is safe\./m);
});

it("sample data is shown where there are neither logs nor sessions, whatever an earlier start left behind", async () => {
  const folder = await makeTempDir();
  await (await serve([], folder)).stop();
  expect(existsSync(join(folder, ".local/share/sessarc"))).toBe(true);
  const sample = await serve(["--or-demo"], folder);
  expect(sample.stderr()).toMatch(/^No logs of any assistant were found on this machine/);
  expect(await total(sample)).toBe(20);
  await sample.stop();
  // Sessions without their logs are the user's.
  const own = await home();
  await runCommand(["import"], own);
  for (const name of [".claude", ".codex", ".gemini", ".copilot", ".config", ".cursor", ".vscode"])
    await rm(join(own, name), { recursive: true, force: true });
  await rm(join(own, ".local/share/opencode"), { recursive: true, force: true });
  expect((await serve(["--or-demo"], own)).stderr()).not.toMatch(/sample data/);
});

it("asks once about login; yes writes the entry and goes on in the background", async () => {
  const folder = await home();
  const questions: string[] = [];
  const answering = (answer: string) => async (question: string) => {
    questions.push(question);
    return answer;
  };
  const service = await serve([], folder, answering("y"));
  onTestFinished(async () => {
    await runCli(["stop"], folder);
  });
  await expect.poll(() => service.stdout()).toMatch(/^sessarc runs in the background at http:/m);
  expect(questions).toEqual(["Keep sessarc running, and start it at login? [y/N] "]);
  expect(await readFile(join(folder, ".profile"), "utf8")).toContain("supervise.mjs");
  expect((await runCli(["status"], folder)).stdout).toMatch(
    /runs in +the background\n(?:.*\n)*login +starts at login: .*\.profile/,
  );
  expect((await runCli(["stop", "--at-login"], folder)).stdout).toBe("No longer starts at login\nStopped\n");
  expect(existsSync(join(folder, ".profile"))).toBe(false);
});

it("no is remembered", async () => {
  const folder = await home();
  const questions: string[] = [];
  const no = async (question: string) => {
    questions.push(question);
    return "n";
  };
  const service = await serve([], folder, no);
  await expect.poll(() => service.stderr()).toContain("Not now: `sessarc start --at-login` does it later.");
  await service.stop();
  await rm(join(folder, ".local/share/sessarc/catalog.db"), { force: true });
  await rm(join(folder, ".local/share/sessarc/catalog.journal"), { force: true });
  await rm(join(folder, ".local/share/sessarc/catalog.db-wal"), { force: true });
  const second = await serve([], folder, no);
  await expect.poll(() => second.stderr()).toMatch(SENTENCE);
  expect(questions).toHaveLength(1);
});
