/** Rows that are in no figure are named where figures are shown: in the session and on the usage screen, in every language. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, load, useStage, visit } from "./browser.ts";

const ID = (n: number) => `5e550000-0000-4000-8000-00000000000${n}`;
const at = "2026-11-20T09:00:00.000Z";
const reply = (n: number, session: string, output: unknown, timestamp = at) => ({
  type: "assistant",
  uuid: `u${n}`,
  sessionId: session,
  cwd: "/w/app",
  timestamp,
  requestId: `r${session}${n}`,
  message: {
    id: `m${session}${n}`,
    role: "assistant",
    model: "claude-opus-4-5",
    content: [{ type: "text", text: `answer ${n}` }],
    usage: { input_tokens: 100, output_tokens: output },
  },
});

async function fill(home: string) {
  const folder = join(home, ".claude", "projects", "-w-app");
  await mkdir(folder, { recursive: true });
  const write = (n: number, title: string, rows: readonly object[]) => {
    const typed = { type: "user", uuid: `t${n}`, sessionId: ID(n), cwd: "/w/app", timestamp: at };
    const all = [{ ...typed, message: { role: "user", content: title } }, ...rows];
    return writeFile(join(folder, `${ID(n)}.jsonl`), all.map((row) => `${JSON.stringify(row)}\n`).join(""));
  };
  await write(1, "Two rows that cannot be", [
    reply(1, ID(1), 50),
    reply(2, ID(1), -5),
    reply(3, ID(1), 50, "2036-01-02T03:04:05.000Z"),
  ]);
  await write(2, "Nothing amiss", [reply(1, ID(2), 50)]);
}

const WORDS = {
  en: ["1 record of the log has impossible token counts, which count 0.", /1 reply is dated Jan 2, 2036/],
  ja: ["ログの 1 件の記録のトークン数はありえない値で、0 として集計されます。", /1 件の応答の日時は現在より後です/],
  "zh-CN": ["日志中有 1 条记录的 Token 数不可能存在，按 0 计。", /1 条回复的时间晚于现在/],
} as const;

describeUi("dashboard: what is in no figure", () => {
  const get = useStage({ fill });

  it.each(Object.entries(WORDS))(
    "is named beside a session's messages and on the usage screen, in %s",
    async (language, words) => {
      const stage = get();
      const { page } = stage;
      await load(stage, "/");
      await page.evaluate((tag) => {
        localStorage.setItem("sessarc:settings", JSON.stringify({ language: tag }));
      }, language);
      await load(stage, `/sessions/claude-code:${ID(1)}?view=overview`);
      for (const text of words) await page.getByText(text).waitFor();
      await visit(stage, "/usage?days=all");
      const row = page
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name: "Two rows that cannot be" }) });
      for (const text of words) await row.getByText(text).waitFor();
      expect(await row.count()).toBe(1);
      expect(await page.getByRole("listitem").filter({ hasText: "Nothing amiss" }).count()).toBe(0);
      await visit(stage, `/sessions/claude-code:${ID(2)}?view=overview`);
      for (const text of words) expect(await page.getByText(text).count()).toBe(0);
      expect(stage.problems()).toEqual([]);
    },
  );

  it("fits a phone, in both themes", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, "/");
    await page.evaluate(() => localStorage.removeItem("sessarc:settings"));
    await load(stage, "/");
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const path of ["/usage?days=all", `/sessions/claude-code:${ID(1)}?view=overview`]) {
        await visit(stage, path);
        const text = page.getByText(WORDS.en[0]);
        await text.waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
        const shots = process.env.SESSARC_SHOTS;
        if (shots) {
          await text.scrollIntoViewIfNeeded();
          await page.screenshot({ path: join(shots, `left-out-${path.slice(1, 6)}-${colorScheme}.png`) });
        }
        expect(await violations(stage)).toEqual([]);
      }
    }
  });
});
