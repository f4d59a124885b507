/** Who wants to know about a resource hears of it, whatever becomes of the connection it was asked over. */
import { join } from "node:path";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred, makeTempDir } from "../_setup.ts";
import { serveHub } from "./_hub.ts";
import { rawSession, readUntil } from "./_raw.ts";
import { readLines, rough } from "./_rough.ts";

const URI = "rough://one";
const subscriptions = (lines: readonly string[]) => lines.filter((line) => line.includes(URI));

async function startRough() {
  const file = join(await makeTempDir(), "notes");
  const hub = await serveHub();
  await hub.add("rough", rough("resources", file));
  // As another client: what a service tells in the course of a call goes to its caller.
  const other = await rawSession(hub.url);
  let id = 100;
  const call = (name: string, args: object = {}) =>
    other.ask({ id: ++id, method: "tools/call", params: { name: `rough__${name}`, arguments: args } });
  return { ...hub, file, call };
}

describe("mcp-hub: subscriptions", () => {
  it("are renewed after a crash and after a change of the service, and ended with the last session", async () => {
    const { url, file, call, kernel } = await startRough();
    const session = await rawSession(url);
    const stream = (await session.listen()).body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const heard = async (times: number) => {
      while (text.split('"notifications/resources/updated"').length - 1 < times) text += (await stream?.read())?.value;
    };
    expect(await session.ask({ id: 1, method: "resources/subscribe", params: { uri: URI } })).toMatchObject({
      messages: [{ id: 1, result: {} }],
    });
    await call("touch", { uri: URI });
    await heard(1);
    await call("crash");
    await readLines(file, (lines) => subscriptions(lines).length === 2);
    // It may have changed meanwhile: that is reported as well.
    await heard(2);
    await call("touch", { uri: URI });
    await heard(3);
    await kernel.inject("mcp").services.update("rough", { timeoutMs: 30_000 });
    await readLines(file, (lines) => subscriptions(lines).length === 3);
    await heard(4);
    await session.end();
    const lines = await readLines(file, (all) => all.some((line) => line.startsWith("unsubscribed")));
    expect(subscriptions(lines).map((line) => line.split(" ")[0])).toEqual([
      "subscribed",
      "subscribed",
      "subscribed",
      "unsubscribed",
    ]);
  });

  it("of a modern client last as long as its stream", async () => {
    const { url, file, call } = await startRough();
    const client = new ModernClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    onTestFinished(() => client.close());
    const updated = deferred<string>();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated.resolve(params.uri));
    await client.connect(new ModernTransport(new URL("mcp", url)));
    const stream = await client.listen({ resourceSubscriptions: [URI] });
    await call("touch", { uri: URI });
    expect(await updated.promise).toBe(URI);
    await stream.close();
    await readLines(file, (lines) => lines.at(-1) === `unsubscribed ${URI}`);
  });

  it("are reported by the name the client knows, where two services have one address", async () => {
    const { url, add, call } = await startRough();
    await add("also", rough("resources"));
    const session = await rawSession(url);
    const own = `mcp-rough:${URI}`;
    const listed = await session.ask({ id: 1, method: "resources/list" });
    expect(JSON.stringify(listed.messages)).toContain(own);
    const stream = await session.listen();
    await session.ask({ id: 2, method: "resources/subscribe", params: { uri: own } });
    await call("touch", { uri: URI });
    expect(await readUntil(stream, /resources\/updated.*\n/)).toContain(`"uri":"${own}"`);
  });
});
