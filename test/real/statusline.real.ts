/** Claude Code shows our status line: with the service up, without it, and with the limits of a plan. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionUsage } from "sessarc";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { StatuslineInstalled } from "../../plugins/statusline/index.ts";
import { builtPackage, runCli, startService } from "../built.ts";
import type { Entry } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { inTerminal } from "./terminal.ts";
import { claudeCode } from "./tools/claude-code.ts";

const PRICE = { input: 3, output: 15, cacheRead: 0.3 }; // dollars a million tokens of Sonnet 4.5
// Shift+Tab: the assistant draws its status line when the mode changes. Without an answer in 300 ms, as on a busy machine, it has its own figures.
const MODE = "\x1b[Z";

const spent = (input: number, output: number, cacheRead: number) => ({ tokens: { input, output, cacheRead } });
const dollars = (ledger: readonly Entry[]) =>
  ledger.reduce(
    (sum, { tokens }) =>
      sum + tokens.input * PRICE.input + tokens.output * PRICE.output + tokens.cacheRead * PRICE.cacheRead,
    0,
  ) / 1e6;
const money = (ledger: readonly Entry[]) => `$${dollars(ledger).toFixed(2)}`;

let row = "did not run";
beforeAll(builtPackage);
afterAll(() => console.log(row));

it.runIf(isPicked(claudeCode))(
  "Claude Code shows what the session, the day and the window cost, and its limits",
  async () => {
    const resets = Math.floor(Date.now() / 1000) + 3 * 86_400;
    const limits = {
      "anthropic-ratelimit-unified-status": "allowed",
      "anthropic-ratelimit-unified-representative-claim": "seven_day",
      "anthropic-ratelimit-unified-reset": String(resets),
      "anthropic-ratelimit-unified-7d-status": "allowed",
      "anthropic-ratelimit-unified-7d-utilization": "0.412",
      "anthropic-ratelimit-unified-7d-reset": String(resets),
    };
    const { model, tool } = await stage(claudeCode);

    // An earlier session of the day.
    model.play({ main: [{ text: "Earlier.", ...spent(50_000, 10_000, 0) }] });
    expect((await tool.run({ prompt: "Say something" })).code).toBe(0);
    expect((await runCli(["import", "--all"], tool.home)).code).toBe(0);

    const installed = await runCli(["statusline", "--install", "--json"], tool.home);
    expect(installed.stderr).toBe("");
    const { settingsPath, command }: StatuslineInstalled = JSON.parse(installed.stdout);
    expect(settingsPath).toBe(join(tool.home, ".claude", "settings.json"));
    expect(JSON.parse(await readFile(settingsPath, "utf8"))).toMatchObject({
      statusLine: { type: "command", command },
    });

    let service = await startService(["--no-open"], tool.home);
    onTestFinished(async () => void (await service.stop()));
    const archived = async (ledger: readonly Entry[]) => {
      const wanted = ledger.reduce((sum, { tokens }) => sum + tokens.output, 0);
      const output = async () => {
        const { totals } = (await (await fetch(`${service.url}api/usage`)).json()) as {
          totals: { usage: SessionUsage };
        };
        return Object.values(totals.usage).reduce((sum, tokens) => sum + tokens.output, 0);
      };
      await expect.poll(output, { timeout: 60_000, interval: 200 }).toBe(wanted);
    };

    model.play({
      main: [
        { text: "First answer.", headers: limits, ...spent(100_000, 12_000, 20_000) },
        { text: "Second answer.", headers: limits, ...spent(90_000, 14_000, 50_000) },
      ],
    });
    // With the token of a plan instead of a key: limits are reported to subscribers alone.
    const plan = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-bench" };
    const screen = await inTerminal(tool, ["--model", "claude-sonnet-4-5", "Say hello"], plan);
    onTestFinished(() => screen.close());
    /** Every figure of the line; of the window's time left only that it is there. */
    const line = (context: string, session: readonly Entry[], day: readonly Entry[]) => {
      const parts = ["Sonnet 4.5", `${context} context`, `${money(session)} session`, `${money(day)} today`];
      const window = `${money(day).replace("$", "\\$")} window, \\d h \\d+ min left`;
      return new RegExp(`${parts.join(" · ").replaceAll("$", "\\$")} · ${window} · 7d 41 %`);
    };
    const shows = (wanted: RegExp) => screen.until((text) => wanted.test(text), MODE);

    await screen.until((text) => text.includes("First answer."));
    const first = [...model.ledger];
    expect(first).toHaveLength(2);
    await archived(first);
    const up = await shows(line("60 %", first.slice(1), first));

    // Without the service: the session's figures are the assistant's, the day's are the last ones.
    await service.stop();
    screen.type("And again\r");
    await screen.until((text) => text.includes("Second answer."));
    const second = [...model.ledger];
    expect(second).toHaveLength(3);
    await shows(line("70 %", second.slice(1), first));

    service = await startService(["--no-open"], tool.home);
    await archived(second);
    await shows(line("70 %", second.slice(1), second));

    const removed = await runCli(["statusline", "--uninstall", "--json"], tool.home);
    expect(JSON.parse(removed.stdout)).toMatchObject({ removed: true });
    row = `claude-code ${tool.version}: ${up
      .split("\n")
      .find((text) => / context · /.test(text))
      ?.trim()}`;
  },
);
