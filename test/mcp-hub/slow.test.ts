/** Services that are slow or hang: no client waits for them twice, and after a restart their tools are listed before they are up. */
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import type { WireService } from "../../plugins/mcp-hub/index.ts";
import { deferred, makeTempDir } from "../_setup.ts";
import { serveHub } from "./_hub.ts";
import { listsService, newerClient, olderClient } from "./_lists.ts";
import { readLines, rough } from "./_rough.ts";

interface Answer {
  tools: object[];
  errors: Record<string, string>;
}

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const lists = (...names: string[]) => ({ tools: names.map(tool) });
const pickOwn = ({ tools }: { tools: { name: string }[] }) =>
  tools.map(({ name }) => name).filter((name) => !name.startsWith("sessarc__"));
/** Rejects for what takes as long as a list once waited for a service. */
const soon = <T>(work: Promise<T>) =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => setTimeout(() => reject(new Error("it waited for the service")), 6_000).unref()),
  ]);

describe("mcp-hub: slow services", () => {
  it("after a restart a new client sees every tool in its first list, and is notified of what differs once a service is up", async () => {
    const folder = await makeTempDir();
    const slow = await listsService(folder, "slow", { lists: lists("one", "two") });
    const hung = await listsService(folder, "hung", { lists: lists("three") });
    const first = await serveHub();
    await first.add("slow", slow.service);
    await first.add("hung", hung.service);
    const before = ["hung__three", "slow__one", "slow__two"];
    expect(pickOwn(await (await olderClient(first.url)).listTools())).toEqual(before);
    await first.close();

    await slow.set({ delayMs: 1_500, lists: lists("one", "new") });
    await hung.set({ hang: "initialize" });
    const second = await serveHub({ home: first.home });
    const { services } = (await (await second.kernel.fetch("/api/mcp/services")).json()) as { services: WireService[] };
    expect(services.map(({ id, tools }) => [id, tools]).slice(0, 2)).toEqual([
      ["hung", 1],
      ["sessarc", expect.any(Number)],
    ]);
    const client = await olderClient(second.url);
    const changed = deferred<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    expect(pickOwn(await soon(client.listTools()))).toEqual(before);
    expect(pickOwn(await soon((await newerClient(second.url)).listTools()))).toEqual(before);
    await changed.promise;
    await expect.poll(async () => pickOwn(await client.listTools())).toEqual(["hung__three", "slow__new", "slow__one"]);
  });

  it("lists that belong to another address are not answered, nor those of a service that was removed", async () => {
    const folder = await makeTempDir();
    const [one, other] = await Promise.all(
      ["one", "other"].map((name) => listsService(folder, name, { lists: lists(name) })),
    );
    const { url, add, kernel } = await serveHub();
    await add("it", one?.service ?? {});
    const client = await olderClient(url);
    expect(pickOwn(await client.listTools())).toEqual(["it__one"]);
    await add("it", { ...other?.service });
    expect(pickOwn(await client.listTools())).toEqual(["it__other"]);
    await kernel.inject("mcp").services.remove("it");
    await other?.set({ hang: "initialize" });
    await add("it", { ...other?.service, timeoutMs: 100 });
    const { tools } = (await (await kernel.fetch("/api/mcp/tools?service=it")).json()) as Answer;
    expect(tools).toEqual([]);
  });

  it("a service that hangs holds up the first list alone, and is started once", async () => {
    const hung = await listsService(await makeTempDir(), "hung", { hang: "initialize" });
    const { url, add } = await serveHub();
    await add("hung", hung.service);
    await add("rough", rough("names", '["a"]'));
    expect(pickOwn(await (await olderClient(url)).listTools())).toEqual(["rough__a"]);
    for (const connect of [olderClient, olderClient])
      expect(pickOwn(await soon((await connect(url)).listTools()))).toEqual(["rough__a"]);
    expect(await readLines(`${hung.file}.starts`, (lines) => lines.length > 0)).toHaveLength(1);
  });

  it("GET /mcp/tools waits no longer than a service's timeoutMs, or that of the request", async () => {
    const folder = await makeTempDir();
    const { add, kernel } = await serveHub();
    for (const method of ["initialize", "tools/list"]) {
      const id = method.replace("/", "-");
      await add(id, { ...(await listsService(folder, id, { hang: method })).service, timeoutMs: 60_000 });
    }
    await add("brief", { ...(await listsService(folder, "brief", { hang: "initialize" })).service, timeoutMs: 200 });
    const ask = async (query: string) => (await (await kernel.fetch(`/api/mcp/tools?${query}`)).json()) as Answer;
    expect((await soon(ask("service=brief"))).errors.brief).toMatch(/200 ms/);
    const { errors, tools } = await soon(ask("timeoutMs=300"));
    expect(Object.keys(errors).sort()).toEqual(["brief", "initialize", "tools-list"]);
    expect(errors.initialize).toMatch(/300 ms/);
    expect(tools.length).toBeGreaterThan(0);
  });
});
