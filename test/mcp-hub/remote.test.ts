/** Services over HTTP and the older event stream, sessions they forget, and unused connections. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { type JsonRecord, toList, toRecord } from "sessarc";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { packageServer, serveHub } from "./_hub.ts";
import { rawSession } from "./_raw.ts";
import { gone, readLines, rough, toPids } from "./_rough.ts";

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** The reference server over HTTP; ends with the test. */
async function everything(transport: "sse" | "streamableHttp", port: number) {
  const { command, args } = packageServer("server-everything", [transport]);
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Read to its end: a server that cannot write its log ends.
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk) => String(chunk).includes(String(port)) && resolve());
  });
  return {
    async stop() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

const toText = (message: JsonRecord | undefined) => toRecord(toList(toRecord(message?.result).content)[0]).text;
const echo = (id: number, message: string) => ({
  id,
  method: "tools/call",
  params: { name: "ev__echo", arguments: { message } },
});

describe("mcp-hub: services over HTTP", () => {
  it("a server that forgot its sessions is greeted again, and the call is made once", async () => {
    const port = await freePort();
    const first = await everything("streamableHttp", port);
    const { url, add, kernel } = await serveHub();
    await add("ev", { url: `http://127.0.0.1:${port}/mcp` });
    const session = await rawSession(url);
    expect(toText((await session.ask(echo(1, "a"))).messages.at(-1))).toBe("Echo: a");
    await first.stop();
    await everything("streamableHttp", port);
    expect(toText((await session.ask(echo(2, "b"))).messages.at(-1))).toBe("Echo: b");
    const { calls } = (await (await kernel.fetch("/api/mcp/calls")).json()) as { calls: { ok: boolean }[] };
    expect(calls.map(({ ok }) => ok)).toEqual([true, true]);
  });

  it("the older event stream is a service like any other: calls, progress, questions", async () => {
    const port = await freePort();
    await everything("sse", port);
    const { url, add } = await serveHub();
    await add("ev", { transport: "sse", url: `http://127.0.0.1:${port}/sse` });
    const session = await rawSession(url);
    expect((await session.ask(echo(1, "a"))).messages).toMatchObject([{ result: { content: [{ text: "Echo: a" }] } }]);
    const name = "ev__trigger-long-running-operation";
    const params = { name, arguments: { duration: 0.4, steps: 4 }, _meta: { progressToken: "p" } };
    const { messages } = await session.ask({ id: 2, method: "tools/call", params });
    expect(messages.map((message) => toRecord(message.params).progress)).toEqual([1, 2, 3, 4, undefined]);
  });

  it("an unused connection is ended with its process, and opened again when it is needed", async () => {
    const home = await makeTempDir();
    await writeFile(join(home, "sessarc.config.mjs"), "export default { mcp: { idleMinutes: 0.01 } };\n");
    const file = join(home, "notes");
    const { url, add, kernel } = await serveHub({ home });
    await add("ev", rough("child", file));
    const session = await rawSession(url);
    const call = (id: number) => session.ask({ id, method: "tools/call", params: { name: "ev__echo", arguments: {} } });
    await call(1);
    const pids = toPids(await readLines(file, (lines) => toPids(lines).length === 2));
    await Promise.all(pids.map(gone));
    const mcp = kernel.inject("mcp");
    const entry = await mcp.services.get("ev");
    await expect.poll(() => mcp.hub.health(entry)).toMatchObject({ state: "idle", lastError: null });
    expect(toText((await call(2)).messages.at(-1))).toBe("echo");
  });
});
