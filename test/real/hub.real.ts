/**
 * The hub as the only MCP server of the real assistants: which tools of its services are in an assistant's first request to the model,
 * with a service that lists malformed items, and after a restart of the hub with services that take 20 s to start.
 */
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { serveHub } from "../mcp-hub/_hub.ts";
import { type Behaviour, listsService } from "../mcp-hub/_lists.ts";
import { lists, TOOLS } from "../mcp-hub/_malformed.ts";
import { isPicked } from "./picked.ts";
import { type Stage, stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  /** Arguments with which the assistant adds a server to its own settings. */
  add(url: string): string[];
  env?: Readonly<Record<string, string>>;
  /** For models of its own catalogue Codex hides every MCP tool behind a search; another name gets them in the request. */
  model?: string;
}

const CASES: readonly Case[] = [
  {
    driver: claudeCode,
    add: (url) => ["mcp", "add", "-s", "user", "-t", "http", "sessarc", url],
    // It waits five seconds, which is short on a busy machine, and here still less than the slow services take.
    env: { MCP_CONNECT_TIMEOUT_MS: "15000" },
  },
  { driver: codex, add: (url) => ["mcp", "add", "sessarc", "--url", url], model: "bench-model" },
  { driver: geminiCli, add: (url) => ["mcp", "add", "-s", "user", "-t", "http", "sessarc", url] },
];

const cases = CASES.filter(({ driver }) => isPicked(driver));

interface Assistant extends Stage {
  env?: Readonly<Record<string, string>> | undefined;
  named?: string | undefined;
}

async function assistant({ driver, add, env, model: named }: Case, hub: string): Promise<Assistant> {
  const { model, tool } = await stage(driver);
  const added = await tool.command(add(new URL("mcp", hub).href)).ended;
  expect(added.code, added.stderr).toBe(0);
  return { tool, model, env, named };
}

/**
 * Names of the services' tools in the first request. Claude Code lists them in a message, the others as tools; Codex writes `_`
 * for `-`.
 */
async function firstTools({ tool, model, env, named }: Assistant, services: readonly string[]): Promise<string[]> {
  const bodies: Record<string, unknown>[] = [];
  model.play({ main: [{ text: "done", asked: ({ body }) => void bodies.push(body) }] });
  const { code, stderr } = await tool.run({ prompt: "Say hello", ...(named && { model: named }) }, env);
  expect([code, bodies.length], stderr.slice(-2_000)).toEqual([0, 1]);
  const text = JSON.stringify(bodies[0]);
  const names = [...text.matchAll(new RegExp(`(?:${services.join("|")})__[\\w.-]+`, "g"))].map(([name]) => name);
  return [...new Set(names.map((name) => name.replaceAll("-", "_")))].sort();
}

describe("one service lists malformed items", () => {
  const offered = TOOLS.filter(([, it]) => it !== undefined).map(([it]) => (it as { name: string }).name);
  const expected = ["good", "last", ...offered].map((name) => `odd__${name.replaceAll("-", "_")}`);

  it.each(cases.map((one) => [one.driver.name, one] as const))("%s offers all others", async (_, one) => {
    const { url, add } = await serveHub();
    const folder = await makeTempDir();
    await add("odd", (await listsService(folder, "odd", { lists })).service);
    const fine = { lists: { tools: [{ name: "tool", inputSchema: { type: "object" } }] } };
    await add("fine", (await listsService(folder, "fine", fine)).service);
    const asked = await assistant(one, url);
    expect(await firstTools(asked, ["odd", "fine"])).toEqual([...expected, "fine__tool"].sort());
  });
});

describe("after a restart of the hub with services that take 20 s to start", () => {
  it.each(cases.map((one) => [one.driver.name, one] as const))("%s offers every tool at once", async (_, one) => {
    const folder = await makeTempDir();
    const names = ["alpha", "beta", "gamma"];
    const behaviour: Behaviour = {
      lists: { tools: ["one", "two"].map((name) => ({ name, inputSchema: { type: "object" } })) },
    };
    const services = await Promise.all(names.map((name) => listsService(folder, name, behaviour)));
    const first = await serveHub();
    for (const [i, name] of names.entries()) await first.add(name, services[i]?.service ?? {});
    const { port } = new URL(first.url);
    const asked = await assistant(one, first.url);
    const all = names.flatMap((name) => [`${name}__one`, `${name}__two`]);
    expect(await firstTools(asked, names)).toEqual(all);
    await first.close();

    for (const { set } of services) await set({ ...behaviour, delayMs: 20_000 });
    await serveHub({ home: first.home, flags: { port: Number(port) } });
    expect(await firstTools(asked, names)).toEqual(all);
  });
});
