/** An adapter as docs/guides/plugins.md shows it, used as a stranger would: from the packed package, in a folder of its own. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { documented, packedInstall, RUNTIMES, runInstalled } from "./_packed.ts";

beforeAll(async () => void (await packedInstall()));

const row = (n: number, tokens: number) =>
  `${JSON.stringify({ role: "bot", text: `Reply ${n}`, ts: `2026-11-01T10:00:0${n}Z`, model: "echo-1", tokens: { input: tokens, output: 0 } })}\n`;

/** A home with one session of 15 tokens, and the documented adapter beside it. */
async function makeHome(): Promise<{ home: string; log: string }> {
  const home = await makeTempDir();
  await mkdir(join(home, ".echo/sessions"), { recursive: true });
  const log = join(home, ".echo/sessions/first.jsonl");
  await writeFile(log, row(1, 15));
  await writeFile(join(home, "echo.ts"), await documented("docs/guides/plugins.md", "echo.ts"));
  return { home, log };
}

describe.each(RUNTIMES)("the documented adapter on $name", ({ node }) => {
  it.skipIf(node === undefined)("is imported with --plugin and counts right when its log grows", async () => {
    const { home, log } = await makeHome();
    const run = async (...args: string[]) => {
      const ran = await runInstalled(["--plugin", "./echo.ts", ...args, "--json"], home, { node });
      // Nothing of the runtime's own: no refused flags, no warnings, no stacks.
      expect(ran.stderr).not.toMatch(/Warning|bad option|illegal|interrupt|\n\s+at /);
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      return JSON.parse(ran.stdout);
    };
    // Read from the start, then from where the last read ended; the figures are the last step's and a row more. That a state which was
    // itself made from a state serves as well is nothing of the runtime's: one of them shows it.
    const steps = node === process.execPath ? 3 : 2;
    for (let n = 1; n <= steps; n++) {
      if (n > 1) await appendFile(log, row(n, 10));
      expect(await run("import")).toMatchObject({ failed: [] });
    }
    expect((await run("usage")).totals.tokens.input).toBe(15 + 10 * (steps - 1));
  });

  it.skipIf(node === undefined)("is imported from the configuration, with options", async () => {
    const { home } = await makeHome();
    await mkdir(join(home, "elsewhere"));
    await writeFile(join(home, "elsewhere/second.jsonl"), row(1, 7));
    const config = `export default { plugins: [["./echo.ts", { dir: ${JSON.stringify(join(home, "elsewhere"))} }]] };`;
    await writeFile(join(home, "sessarc.config.mjs"), config);
    const { code, stdout, stderr } = await runInstalled(["import", "--json"], home, { node });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ imported: 1, failed: [] });
  });
});
