/**
 * The protocol's own conformance suites, through the hub: one service with its names unchanged, and all of them with the names mapped
 * back. Failures are expected only where a transport cannot carry what a scenario wants.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exec } from "sessarc/files";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { serveHub } from "./_hub.ts";
import { renaming } from "./_renaming.ts";
import { rough } from "./_rough.ts";
import { manifest, serveSkills } from "./_skills.ts";

const module = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const SERVER = fileURLToPath(new URL("conformance-server.mjs", import.meta.url));
const RELEASED = module("@modelcontextprotocol/conformance/dist/index.js");
const NEXT = module("conformance-next/dist/index.js");
/** The suites use what Node 20 has not. */
const isNew = Number(process.versions.node.split(".")[0]) >= 22;
const NODE = isNew
  ? process.execPath
  : fileURLToPath(new URL("../runtimes/node_modules/node24/bin/node", import.meta.url));

type Way = "stdio" | "http" | "sse";

/** The suite's service as the hub reaches it: a process it starts, or the address of one that listens. */
async function service(way: Way): Promise<object> {
  if (way === "stdio") return { command: process.execPath, args: [SERVER] };
  const child = spawn(process.execPath, [SERVER, way], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const [address] = await once(child.stdout.setEncoding("utf8"), "data");
  return { transport: way, url: String(address).trim() };
}

interface RunOptions {
  view: "one" | "all";
  way?: Way;
  others?: Record<string, object>;
}

/** Runs a suite; returns its exit code and, when that is not 0, everything it printed. */
async function run(suite: string, args: readonly string[], { view, way = "stdio", others = {} }: RunOptions) {
  const { url, add } = await serveHub();
  for (const [id, other] of Object.entries(others)) await add(id, other);
  await add("suite", await service(way));
  const target = view === "one" ? new URL("mcp/suite", url).href : await renaming(new URL("mcp", url).href, "suite");
  const cwd = await makeTempDir();
  const result = await exec(NODE, [suite, "server", "--url", target, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NO_COLOR: "1" },
    timeoutMs: 290_000,
  });
  const said = `${result.stdout}\n${result.stderr}`;
  return { code: result.code, said: result.code === 0 ? "" : said, summary: said };
}

if (process.env.CI && !existsSync(NODE)) throw new Error("node24 is not installed: `npm ci --prefix test/runtimes`");

describe.skipIf(!existsSync(NODE))("mcp-hub: conformance", () => {
  // In the long run every suite over both views; else each revision once: the released suite is that of 2025-11-25.
  describe.each(["one", "all"] as const)("view of %s", (view) => {
    it.runIf(LONG || view === "one")("passes all active scenarios of the released suite", async () => {
      const { code, said, summary } = await run(RELEASED, [], { view });
      expect(said).toBe("");
      expect(code).toBe(0);
      expect(summary).toMatch(/Total: \d+ passed, 0 failed/);
    });

    const revisions = ["2025-11-25", "2026-07-28"].filter((revision) => LONG || (view === "all" && revision > "2026"));
    it.each(revisions)("passes what revision %s requires", async (revision) => {
      const { code, said } = await run(NEXT, ["--requirements", revision], { view });
      expect(said).toBe("");
      expect(code).toBe(0);
    });
  });

  // Its client says nothing of the extension, so the address does.
  const scenarios = ["enumeration", "manifest", "directory"].map((name) => `sep-2640-skills-${name}`);
  it.each(scenarios)("passes %s of the skills extension, with the store's skills and a service's", async (scenario) => {
    const { url, store, add } = await serveSkills();
    await store("notes", { "references/a.md": "a\n", "SKILL.md": manifest("notes", "metadata:\n  author: me\n") });
    await add("skilled", "sdk", { "acme/refunds/SKILL.md": manifest("refunds"), "acme/refunds/t/e.md": "mail\n" });
    const args = ["server", "--url", new URL("mcp?skills=1", url).href, "--scenario", scenario];
    const cwd = await makeTempDir();
    const { stdout, stderr, code } = await exec(
      NODE,
      [NEXT, ...args, "--spec-version", "2026-07-28", "--force", "--verbose"],
      {
        cwd,
        env: { PATH: process.env.PATH, HOME: cwd, NO_COLOR: "1" },
        timeoutMs: 290_000,
      },
    );
    const statuses = [...`${stdout}`.matchAll(/"id": "(sep-2640[^"]*)",[^}]*?"status": "([A-Z]+)"/g)];
    expect({ code, stderr: code === 0 ? "" : `${stdout}${stderr}` }).toEqual({ code: 0, stderr: "" });
    expect(statuses.length).toBeGreaterThan(4);
    expect(statuses.filter(([, , status]) => status !== "SUCCESS").map(([, id, status]) => `${id} ${status}`)).toEqual(
      [],
    );
  });

  describe("behind 29 services of which three hang, three crash and three flood", () => {
    const of = (name: string, count: number, service: (n: number) => object) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}-${n}`, service(n)]));
    const others = {
      // The suite calls the first tool of the list: its name is to come before those that crash a service.
      ...of("able", 20, (n) => rough("names", JSON.stringify([`tool-${n}`]))),
      ...of("hangs", 3, () => rough("mute")),
      ...of("crashes", 3, () => ({ command: process.execPath, args: ["-e", "process.exit(3)"] })),
      ...of("floods", 3, () => rough("flood")),
    };

    const ways = ["stdio", "http", "sse"] as const;
    it.each(LONG ? ways : ways.slice(0, 1))(
      "passes all active scenarios of the released suite over %s",
      async (way) => {
        const { code, said, summary } = await run(RELEASED, [], { view: "all", way, others });
        expect(said).toBe("");
        expect(code).toBe(0);
        expect(summary).toMatch(/Total: \d+ passed, 0 failed/);
      },
    );

    const revisions = ways.flatMap((way) => ["2025-11-25", "2026-07-28"].map((revision) => ({ way, revision })));
    it.runIf(LONG).each(revisions)("passes what revision $revision requires over $way", async ({ way, revision }) => {
      const args = ["--requirements", revision];
      // These want the service's own key of a question. In the older protocol, the only one of this transport, questions have none.
      if (way === "sse" && revision === "2026-07-28") {
        const keyed = ["basic-elicitation", "missing-input-response", "ignore-extra-params"];
        const file = join(await makeTempDir(), "expected.yml");
        await writeFile(file, `server:\n${keyed.map((name) => `  - input-required-result-${name}\n`).join("")}`);
        args.push("--expected-failures", file);
      }
      const { code, said } = await run(NEXT, args, { view: "all", way, others });
      expect(said).toBe("");
      expect(code).toBe(0);
    });
  });
});
