/** What calls leave behind: nothing. */
import { createHook } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { serveHub } from "./_hub.ts";
import { rawSession } from "./_raw.ts";
import { rough } from "./_rough.ts";

it("mcp-hub: calls leave no timer, listener, session or process behind", async () => {
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === "Timeout" && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  const warnings: string[] = [];
  const warned = (warning: Error) => void warnings.push(String(warning));
  process.on("warning", warned);
  onTestFinished(() => {
    hook.disable();
    process.off("warning", warned);
  });

  const { url, add, kernel } = await serveHub();
  await add("rough", rough());
  const mcp = kernel.inject("mcp");
  const rough_ = (await mcp.services.get("rough")).id;

  async function round(calls: number): Promise<void> {
    // One that can be asked something has a process of its own, the other one shares.
    const sessions = await Promise.all([rawSession(url), rawSession(url, { roots: {} })]);
    const modern = new ModernClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await modern.connect(new ModernTransport(new URL("mcp", url)));
    const call = (name: string, args: Record<string, unknown> = {}, _meta = {}) => ({
      name: `rough__${name}`,
      arguments: args,
      _meta,
    });
    for (let n = 0; n < calls; n++) {
      await Promise.all([
        ...sessions.flatMap(({ ask }) => [
          ask({ id: 5 * n + 1, method: "tools/call", params: call("echo", { text: "x" }) }),
          ask({
            id: 5 * n + 2,
            method: "tools/call",
            params: call("slow-progress", { steps: 2, every: 1 }, { progressToken: n }),
          }),
          ask({ id: 5 * n + 3, method: "tools/call", params: call("nothing") }),
        ]),
        modern.callTool(call("echo", { text: "y" })),
      ]);
    }
    const stop = new AbortController();
    const waiting = sessions.map(({ post }) =>
      post({ id: -1, method: "tools/call", params: call("wait") }, stop.signal),
    );
    for (const { ask } of sessions) await ask({ method: "notifications/cancelled", params: { requestId: -1 } });
    stop.abort();
    await Promise.allSettled(waiting);
    await Promise.all(sessions.map(({ end }) => end()));
    await modern.close();
  }
  const left = () => ({
    timers: timers.size,
    closing: getEventListeners(kernel.closing, "abort").length,
    clients: mcp.hub.subscribers.count,
    sessions: mcp.endpoint.sessions,
    connections: mcp.hub.pool.ofService(rough_).length,
    callers: mcp.hub.pool.ofService(rough_).flatMap(({ callers }) => [...callers]).length,
  });

  await round(3);
  let before = left();
  await expect
    .poll(() => {
      before = left();
      return before;
    })
    .toMatchObject({ sessions: 0, callers: 0 });
  await round(60);
  // Beside the timers of a kept connection or two of the test's own client.
  await expect
    .poll(() => {
      const { timers, ...after } = left();
      return { ...after, fewTimers: timers <= before.timers + 5 };
    })
    .toEqual({ ...(({ timers: _, ...others }) => others)(before), fewTimers: true });
  expect(warnings).toEqual([]);
});
