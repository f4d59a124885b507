/** Groups of tools: a client sees its ten instead of all, and reaches the others by search where its group allows it. */
import { toList, toRecord } from "sessarc";
import { expect, it } from "vitest";
import { serveTest } from "../_setup.ts";
import { HUB } from "./_hub.ts";
import { rawSession } from "./_raw.ts";
import { rough } from "./_rough.ts";

const profiles = {
  small: { clients: ["raw"], tools: ["many__tool-1?", "sessarc__search_*"] },
  open: { tools: ["many__tool-7"], search: true },
};

async function start() {
  const served = await serveTest({ plugins: HUB(), flags: { mcp: { profiles } } });
  const names = Array.from({ length: 300 }, (_, n) => `tool-${n}`);
  await served.kernel.inject("mcp").services.put({ id: "many", ...rough("names", JSON.stringify(names)) });
  return served;
}
type Session = Awaited<ReturnType<typeof rawSession>>;
const ask = async (session: Session, method: string, params: object = {}) =>
  toRecord((await session.ask({ id: 1, method, params })).messages.at(-1));
const readNames = async (session: Session) =>
  toList(toRecord((await ask(session, "tools/list")).result).tools).map((tool) => toRecord(tool).name);
const TEN = [...Array.from({ length: 10 }, (_, n) => `many__tool-1${n}`), "sessarc__search_messages"];

it("a client of a profile sees and calls its tools alone; another client sees all", async () => {
  const { url, kernel } = await start();
  const session = await rawSession(url);
  const listed = await readNames(session);
  expect(listed.slice(0, 10)).toEqual(TEN.slice(0, 10));
  expect(listed.slice(10).every((name) => String(name).startsWith("sessarc__search_"))).toBe(true);
  const call = (name: string) => ask(session, "tools/call", { name, arguments: { text: "hi" } });
  expect(toRecord((await call("many__tool-12")).result).content).toEqual([{ type: "text", text: "hi" }]);
  expect(await call("many__tool-200")).toMatchObject({ error: { code: -32602 } });
  expect(await readNames(await rawSession(url, {}, "mcp?client=other"))).toContain("many__tool-200");
  const answer = await (await kernel.fetch("/api/mcp/tools?client=raw")).json();
  const refused = toList(toRecord(answer).tools).find((tool) => toRecord(tool).name === "many__tool-200");
  expect(refused).toMatchObject({ allowed: false, reason: "not in the profile" });
});

it("a profile with search lists find_tools and call_tool beside its own, and they reach every tool", async () => {
  const { url } = await start();
  const session = await rawSession(url, {}, "mcp?profile=open");
  expect(await readNames(session)).toEqual(["many__tool-7", "find_tools", "call_tool"]);
  const found = await ask(session, "tools/call", { name: "find_tools", arguments: { query: "tool-200" } });
  expect(JSON.stringify(found.result)).toContain("many__tool-200");
  const inner = { name: "many__tool-200", arguments: { text: "far" } };
  const called = await ask(session, "tools/call", { name: "call_tool", arguments: inner });
  expect(toRecord(called.result).content).toEqual([{ type: "text", text: "far" }]);
  expect(await ask(session, "tools/call", inner)).toMatchObject({ error: { code: -32602 } });
});

it("tool search finds within the profile, and an unknown profile is refused", async () => {
  const { url } = await start();
  const session = await rawSession(url, {}, "mcp?tools=search");
  expect(await readNames(session)).toEqual(["find_tools", "call_tool"]);
  const found = await ask(session, "tools/call", { name: "find_tools", arguments: { query: "tool", limit: 50 } });
  expect(JSON.stringify(found.result)).toContain("many__tool-12");
  expect(JSON.stringify(found.result)).not.toContain("many__tool-200");
  const unknown = await rawSession(url, {}, "mcp?profile=nowhere");
  expect(await ask(unknown, "tools/list")).toMatchObject({
    error: { code: -32602, message: expect.stringContaining("nowhere") },
  });
});

it("X-Sessarc-Project says in which project a client asks", async () => {
  const { url, kernel } = await start();
  await kernel.inject("mcp").services.update("many", { scope: { clients: "*", projects: ["/home/é/shop"] } });
  expect(await readNames(await rawSession(url, {}, "mcp?client=x"))).not.toContain("many__tool-1");
  const headers = { "X-Sessarc-Project": encodeURI("/home/é/shop") };
  expect(await readNames(await rawSession(url, {}, "mcp?client=x", headers))).toContain("many__tool-1");
});
