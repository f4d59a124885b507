/** Malformed items of a service: each is repaired or left out with its reason, and nothing else is missing, in the clients of both SDKs. */
import { describe, expect, it } from "vitest";
import type { WireService } from "../../plugins/mcp-hub/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { serveHub } from "./_hub.ts";
import { listsService, newerClient, olderClient } from "./_lists.ts";

const object = { type: "object" };
const good = { name: "good", description: "Works", inputSchema: object };

/** What is offered of each: undefined where it is left out. */
const TOOLS: [tool: unknown, offered: object | undefined, reason: RegExp][] = [
  [{ name: "no-schema" }, { inputSchema: object }, /inputSchema is missing/],
  [{ name: "null-schema", inputSchema: null }, { inputSchema: object }, /inputSchema is missing/],
  [{ name: "no-type", inputSchema: { properties: {} } }, { inputSchema: { type: "object", properties: {} } }, /type/],
  [{ name: "array-schema", inputSchema: [] }, undefined, /inputSchema/],
  [{ name: "string-type", inputSchema: { type: "string" } }, undefined, /inputSchema\.type/],
  [
    { name: "null-properties", inputSchema: { type: "object", properties: null } },
    { inputSchema: object },
    /inputSchema\.properties is left out/,
  ],
  [
    { name: "odd-property", inputSchema: { type: "object", properties: { a: 5, b: true, c: { type: "string" } } } },
    { inputSchema: { type: "object", properties: { a: {}, b: {}, c: { type: "string" } } } },
    /inputSchema\.properties\.a/,
  ],
  [{ ...good, name: "numeric-description", description: 42 }, { inputSchema: object }, /description is left out/],
  [{ ...good, name: "string-annotations", annotations: "safe" }, { description: "Works" }, /annotations is left out/],
  [
    { ...good, name: "odd-hint", annotations: { readOnlyHint: "yes", destructiveHint: true } },
    { annotations: { destructiveHint: true } },
    /annotations\.readOnlyHint/,
  ],
  [
    { ...good, name: "bad-icon", icons: [{ theme: "dark" }, { src: "data:," }] },
    { icons: [{ src: "data:," }] },
    /icons\.0/,
  ],
  [
    { ...good, name: "no-ref", outputSchema: { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } } },
    { description: "Works" },
    /outputSchema is left out: can't resolve/,
  ],
  [{ ...good, name: "output-array", outputSchema: { type: "array" } }, { description: "Works" }, /outputSchema/],
  [{ ...good, name: "string-meta", _meta: "x" }, { description: "Works" }, /_meta is left out/],
  [{ ...good, name: 7 }, undefined, /name is missing or not a text/],
  ["a text", undefined, /not an object/],
  [null, undefined, /not an object/],
];
const PROMPTS: typeof TOOLS = [
  [{ name: "odd-arguments", arguments: "all" }, {}, /arguments is left out/],
  [
    { name: "nameless-argument", arguments: [{ description: "x" }, { name: "b" }] },
    { arguments: [{ name: "b" }] },
    /arguments\.0/,
  ],
  [{ description: "nameless" }, undefined, /name is missing/],
];
const RESOURCES: typeof TOOLS = [
  [{ uri: "x://nameless", title: "Title" }, { name: "Title" }, /name is missing/],
  [{ uri: "x://size", name: "size", size: "large" }, { name: "size" }, /size is left out/],
  [{ name: "nowhere" }, undefined, /uri is missing/],
];
const TEMPLATES: typeof TOOLS = [[{ uriTemplate: "x://{a}" }, { name: "x://{a}" }, /name is missing/]];

const lists = {
  tools: [good, ...TOOLS.map(([tool]) => tool), { name: "last", inputSchema: object }],
  prompts: [{ name: "fine" }, ...PROMPTS.map(([item]) => item)],
  resources: [{ uri: "x://fine", name: "fine" }, ...RESOURCES.map(([item]) => item)],
  resourceTemplates: TEMPLATES.map(([item]) => item),
};
const keyOf = (item: unknown, key: string) => (item as Record<string, unknown> | null)?.[key];
const offeredOf = (rows: typeof TOOLS) => rows.filter(([, offered]) => offered !== undefined).map(([item]) => item);

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
    const expected = ["good", "last", ...offeredOf(TOOLS).map((it) => keyOf(it, "name"))].map((name) => `odd__${name}`);
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
