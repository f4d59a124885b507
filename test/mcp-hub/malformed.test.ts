/** Malformed items of a service: each is repaired or left out with its reason, and nothing else is missing, in the clients of both SDKs. */
import { describe, expect, it } from "vitest";
import type { WireService } from "../../plugins/mcp-hub/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { serveHub } from "./_hub.ts";
import { listsService, newerClient, olderClient } from "./_lists.ts";
import { lists, PROMPTS, RESOURCES, TEMPLATES, TOOLS } from "./_malformed.ts";

const keyOf = (item: unknown, key: string) => (item as Record<string, unknown> | null)?.[key];
const toOffered = (rows: typeof TOOLS) => rows.filter(([, offered]) => offered !== undefined).map(([item]) => item);

describe("mcp-hub: malformed items", () => {
  it.each([
    ["the older SDK", olderClient],
    ["the newer SDK", newerClient],
  ] as const)("%s's client lists everything but the items that are left out", async (_, connect) => {
    const { url, add } = await serveHub();
    const { service } = await listsService(await makeTempDir(), "odd", { lists });
    await add("odd", service);
    const client = await connect(url);
    const tools = (await client.listTools()).tools.filter(({ name }) => name.startsWith("odd__"));
    const expected = ["good", "last", ...toOffered(TOOLS).map((it) => keyOf(it, "name"))].map((name) => `odd__${name}`);
    expect(tools.map(({ name }) => name)).toEqual(expected.sort());
    for (const [item, offered] of TOOLS) {
      const tool = tools.find(({ name }) => name === `odd__${keyOf(item, "name")}`);
      if (offered) expect(tool).toMatchObject(offered);
    }
    const prompts = (await client.listPrompts()).prompts.filter(({ name }) => name.startsWith("odd__"));
    expect(prompts.map(({ name }) => name)).toEqual(["odd__fine", "odd__nameless-argument", "odd__odd-arguments"]);
    expect(prompts[1]?.arguments).toEqual([{ name: "b" }]);
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("x:")).map(({ uri, name }) => [uri, name])).toEqual([
      ["x://fine", "fine"],
      ["x://nameless", "Title"],
      ["x://size", "size"],
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toContainEqual({ uriTemplate: "x://{a}", name: "x://{a}" });
    expect(await client.callTool({ name: "odd__no-schema", arguments: {} })).toMatchObject({
      content: [{ text: "called no-schema" }],
    });
  });

  it("the API names each with its reason, and so do `mcp list` and `mcp test`", async () => {
    const { url, add, kernel, home } = await serveHub();
    const { service } = await listsService(await makeTempDir(), "odd", { lists });
    await add("odd", service);
    await (await olderClient(url)).listTools();
    const json = async (path: string) => (await kernel.fetch(path)).json();
    const { services } = (await json("/api/mcp/services")) as { services: WireService[] };
    const known = services.find(({ id }) => id === "odd");
    const { problems } = (await json("/api/mcp/tools")) as { problems: object[] };
    expect(problems).toEqual(known?.problems.map((problem) => ({ service: "odd", ...problem })));
    for (const [rows, kind, key] of [
      [TOOLS, "tools", "name"],
      [PROMPTS, "prompts", "name"],
      [RESOURCES, "resources", "uri"],
      [TEMPLATES, "resourceTemplates", "uriTemplate"],
    ] as const)
      for (const [item, offered, reason] of rows) {
        const name = keyOf(item, key);
        const leftOut = offered === undefined;
        const found = known?.problems.filter((it) => it.kind === kind && it.leftOut === leftOut);
        const named = found?.filter((it) => it.name === (typeof name === "string" ? name : null));
        expect([name, named?.map((it) => it.reason).join()]).toEqual([name, expect.stringMatching(reason)]);
      }
    const run = (...args: string[]) => runCommand(["mcp", ...args], home, { SESSARC_DATA_DIR: `${home}/data` });
    for (const shown of [await run("list"), await run("test", "odd")]) {
      const text = shown.stdout + shown.stderr;
      expect(text).toMatch(/tool array-schema is left out: inputSchema/);
      expect(text).toMatch(/tool no-schema is repaired: inputSchema is missing/);
    }
  });
});
