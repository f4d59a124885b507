import { definePlugin, defineRoute, type Plugin } from "sessarc";
import * as v from "valibot";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { deferred } from "../_setup.ts";
import { createTestKernel, readError } from "../kernel.ts";

const params = v.object({ id: v.pipe(v.string(), v.regex(/^\d+$/, "is not a number")) });
const query = v.object({
  days: v.optional(
    v.pipe(v.string(), v.regex(/^\d+$/, "is not a whole number"), v.transform(Number), v.maxValue(3650)),
  ),
  kind: v.optional(v.union([v.string(), v.array(v.string())])),
});
const body = v.object({ name: v.pipe(v.string(), v.nonEmpty("is empty")), size: v.optional(v.number()) });

const routes = [
  defineRoute({ method: "GET", path: "/cups", summary: "Cups", query, handler: ({ query }) => ({ query }) }),
  defineRoute({ method: "POST", path: "/cups", summary: "Add", status: 201, body, handler: ({ body }) => body }),
  defineRoute({ method: "GET", path: "/cups/:id", summary: "Cup", handler: ({ params }) => params }),
  defineRoute({ method: "DELETE", path: "/cups/:id", summary: "Break", handler: () => undefined }),
  defineRoute({ method: "GET", path: "/cups/clean", summary: "Clean ones", handler: () => ["clean"] }),
  defineRoute({ method: "GET", path: "/numbers/:id", summary: "Number", params, handler: ({ params }) => params }),
  defineRoute({ method: "POST", path: "/wash", summary: "Wash", handler: ({ body }) => ({ body: body ?? null }) }),
  defineRoute({
    method: "POST",
    path: "/small",
    summary: "Small body",
    limits: { bytes: 16 },
    body: v.unknown(),
    handler: ({ body }) => ({ body }),
  }),
  defineRoute({
    method: "GET",
    path: "/break",
    summary: "Break",
    handler: () => {
      throw new Error("secret path /home/someone/.ssh");
    },
  }),
  defineRoute({
    method: "GET",
    path: "/page/:name",
    mount: "/",
    summary: "A page",
    handler: ({ params }) =>
      new Response(`<p>${params.name}`, {
        status: params.name === "gone" ? 404 : 200,
        headers: { "content-type": "text/html", "content-security-policy": "default-src 'self'" },
      }),
  }),
] as const;
const cups = definePlugin({ name: "cups", routes });
const dashboard = definePlugin({
  name: "dashboard",
  routes: [
    defineRoute({
      method: "GET",
      path: "/**",
      mount: "/",
      summary: "Pages",
      handler: ({ params }) => new Response(`page:${params._}`, { headers: { "content-type": "text/html" } }),
    }),
  ],
});

const namedRest = definePlugin({
  name: "dashboard",
  routes: [
    defineRoute({
      method: "GET",
      path: "/**:rest",
      mount: "/",
      summary: "Pages",
      handler: ({ params }) => new Response(`page:${params.rest}`, { headers: { "content-type": "text/html" } }),
    }),
  ],
});

const boot = (...more: Plugin[]) => createTestKernel({ plugins: [cups(), ...more] });

describe("routes", () => {
  it("answer JSON with their success status", async () => {
    const t = await boot();
    expect(await t.send("POST", "/api/cups", { name: "blue" })).toEqual({ status: 201, body: { name: "blue" } });
    const empty = await t.fetch("/api/cups/1", { method: "DELETE" });
    expect([empty.status, await empty.text()]).toEqual([204, ""]);
  });

  it("get params as the client meant them", async () => {
    const t = await boot();
    expect(await t.json("/api/cups/a%2Fb%20%C3%A9")).toEqual({ id: "a/b é" });
    expect(await t.json("/api/cups/100%25")).toEqual({ id: "100%" });
    expect(await readError(await t.fetch("/api/cups/%ff"))).toMatchObject({ status: 400, code: "INVALID_INPUT" });
    expect(await readError(await t.fetch("/api/cups/a%00b"))).toMatchObject({ status: 400, code: "INVALID_INPUT" });
  });

  it("a fixed path wins over a parameter", async () => {
    const t = await boot();
    expect(await t.json("/api/cups/clean")).toEqual(["clean"]);
  });

  it("validate params, query and body, and name what is wrong", async () => {
    const t = await boot();
    expect(await t.json("/api/cups?days=7&kind=a&kind=b")).toEqual({ query: { days: 7, kind: ["a", "b"] } });
    expect(await readError(await t.fetch("/api/cups?days=soon"))).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: "query.days", message: "is not a whole number" }],
    });
    expect(await readError(await t.fetch("/api/numbers/x"))).toMatchObject({ issues: [{ path: "params.id" }] });
    const wrong = await t.send<{ issues: unknown }>("POST", "/api/cups", { name: "", size: "big" });
    expect(wrong.status).toBe(400);
    expect(wrong.body.issues).toMatchObject([{ path: "name" }, { path: "size" }]);
  });

  it("name the missing fields when there is no body at all", async () => {
    const t = await boot();
    const { body } = await t.send<{ issues: unknown }>("POST", "/api/cups");
    expect(body.issues).toMatchObject([{ path: "name" }]);
  });

  it("hand no body to a handler that has no schema for it", async () => {
    const t = await boot();
    expect((await t.send("POST", "/api/wash", { anything: 1 })).body).toEqual({ body: null });
  });

  it("an extra name in the query cannot reach a prototype", async () => {
    const t = await boot();
    expect(await t.json("/api/cups?__proto__=1&constructor=2")).toEqual({ query: {} });
  });

  it("HEAD comes with every GET, without a body", async () => {
    const t = await boot();
    const get = await t.fetch("/api/cups/1");
    const head = await t.fetch("/api/cups/1", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
  });

  it("HEAD of a stream ends what feeds it", async () => {
    const ended = deferred();
    const stream = definePlugin({
      name: "stream",
      routes: [
        defineRoute({
          method: "GET",
          path: "/stream",
          summary: "Stream",
          handler: () => new Response(new ReadableStream({ cancel: () => ended.resolve() })),
        }),
      ],
    });
    const t = await boot(stream());
    expect((await t.fetch("/api/stream", { method: "HEAD" })).status).toBe(200);
    await ended.promise;
  });

  it("a known path with another method is 405 and says which are allowed", async () => {
    const t = await boot();
    const response = await t.fetch("/api/cups/1", { method: "PATCH" });
    expect(await readError(response)).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(response.headers.get("allow")).toBe("GET, HEAD, DELETE");
  });

  it("the handler's signal aborts with the client and with the kernel", async () => {
    const started = { client: deferred(), kernel: deferred() };
    const aborted: string[] = [];
    const waiting = definePlugin({
      name: "waiting",
      routes: [
        defineRoute({
          method: "GET",
          path: "/wait/:who",
          summary: "Wait",
          handler: ({ signal, params }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => {
                aborted.push(params.who);
                reject(signal.reason);
              });
              started[params.who === "client" ? "client" : "kernel"].resolve();
            }),
        }),
      ],
    });
    const t = await boot(waiting());
    const client = new AbortController();
    const first = t.fetch("/api/wait/client", { signal: client.signal });
    await started.client.promise;
    client.abort();
    await first.catch(() => {});
    const second = t.fetch("/api/wait/kernel");
    await started.kernel.promise;
    await t.kernel.close();
    expect((await second).status).toBe(503);
    expect(aborted).toEqual(["client", "kernel"]);
  });
});

describe("errors", () => {
  it.each([
    ["/**", dashboard],
    ["/**:rest", namedRest],
  ])("D15: unknown paths below /api are a JSON 404 also with a dashboard at %s", async (_, pages) => {
    const t = await boot(pages());
    for (const path of ["/api/none", "/api", "/api/", "/api/cups/1/none", "/api/openapi.jsonx"]) {
      expect(await readError(await t.fetch(path)), path).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    }
    expect(await (await t.fetch("/projects/x")).text()).toBe("page:projects/x");
    expect(await (await t.fetch("/")).text()).toBe("page:");
    expect(await readError(await t.fetch("/projects/x", { method: "POST" }))).toMatchObject({ status: 404 });
  });

  it("without a dashboard every unknown path is one", async () => {
    const t = await boot();
    expect(await readError(await t.fetch("/"))).toMatchObject({ code: "ROUTE_NOT_FOUND" });
  });

  it("S11: our own faults carry an id that is in the log, no stack and no path", async () => {
    const lines: string[] = [];
    const t = await boot();
    t.kernel.hooks.hook("request:error", (error, { errorId }) => void lines.push(`${errorId} ${String(error)}`));
    const response = await t.fetch("/api/break");
    const text = await response.clone().text();
    const { errorId, code } = await readError(response);
    expect(code).toBe("INTERNAL");
    expect(text).not.toMatch(/home|ssh|at |\.ts/);
    expect(lines).toEqual([`${errorId} Error: secret path /home/someone/.ssh`]);
    expect(t.errors.splice(0)).toHaveLength(1);
  });

  it("a page answers its own 404", async () => {
    const t = await boot();
    const response = await t.fetch("/page/gone");
    expect([response.status, await response.text()]).toEqual([404, "<p>gone"]);
  });

  it("a body too large is refused while it streams", async () => {
    const t = await boot();
    expect((await t.send("POST", "/api/small", "x".repeat(14))).status).toBe(200);
    expect((await t.send("POST", "/api/small", "x".repeat(15))).status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(8));
      },
    });
    const init = { method: "POST", body: endless, duplex: "half", headers: { "content-type": "application/json" } };
    const response = await t.fetch("/api/small", init as RequestInit);
    expect(await readError(response)).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
    expect(pulled).toBeLessThan(10);
  });

  it.each([
    ["broken", "{"],
    ["nested too deep", `${"[".repeat(65)}${"]".repeat(65)}`],
    ["with a prototype key", '{"a":{"__proto__":{"b":1}}}'],
    ["with an escaped prototype key", '{"\\u005f_proto__":1}'],
    ["with a constructor key", '[{"constructor":1}]'],
  ])("a body %s is 400", async (_, text) => {
    const t = await boot();
    const response = await t.fetch("/api/wash", { method: "POST", body: text });
    expect(await readError(response)).toMatchObject({ status: 400, code: "INVALID_JSON" });
  });

  it("64 levels and brackets inside strings are fine", async () => {
    const t = await boot();
    const deep = `${"[".repeat(64)}${"]".repeat(64)}`;
    expect((await t.fetch("/api/wash", { method: "POST", body: deep })).status).toBe(200);
    const text = JSON.stringify({ text: '[[["'.repeat(100) });
    expect((await t.fetch("/api/wash", { method: "POST", body: text })).status).toBe(200);
  });
});

describe("answers", () => {
  it("carry the security headers on every mount, errors included; a page keeps its own policy", async () => {
    const t = await boot();
    for (const path of ["/api/cups", "/api/none", "/none", "/page/x"]) {
      const { headers } = await t.fetch(path);
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
      const policy = path === "/page/x" ? "default-src 'self'" : "default-src 'none'; frame-ancestors 'none'";
      expect(headers.get("content-security-policy")).toBe(policy);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it("are reported on request:done", async () => {
    const t = await boot();
    const done: unknown[] = [];
    t.kernel.hooks.hook("request:done", (info) => void done.push(info));
    await t.fetch("/api/cups");
    await t.fetch("/api/none");
    expect(done).toMatchObject([
      { method: "GET", path: "/api/cups", status: 200, ms: expect.any(Number) },
      { path: "/api/none", status: 404 },
    ]);
  });
});

describe("the kernel's own routes", () => {
  it("GET /api/status has the kernel's figures and the sections of plugins", async () => {
    const plugin = definePlugin({
      name: "counting",
      hooks: {
        "status:collect": (report) => {
          report.storage.sessions = 7;
          report.sync = { running: false };
        },
      },
    });
    const t = await createTestKernel({ plugins: [plugin()] });
    expect(await t.json("/api/status")).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      mode: "standalone",
      port: null,
      dataDir: t.kernel.storage.dataDir,
      storage: { catalogBytes: expect.any(Number), transcriptBytes: 0, sessions: 7, messages: 0 },
      tools: {},
      uptimeMs: expect.any(Number),
      process: {
        pid: process.pid,
        memoryBytes: expect.any(Number),
        processorMs: expect.any(Number),
        restarts: [],
      },
      sync: { running: false },
    });
  });

  it("GET /api/status says how long it is up, whatever the clock was set to meanwhile", async () => {
    const t = await createTestKernel();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { uptimeMs } = await t.json<{ uptimeMs: number }>("/api/status");
    expect(uptimeMs).toBeGreaterThanOrEqual(0);
    expect(uptimeMs).toBeLessThan(86_400_000);
  });

  it("GET /api/plugins lists routes, hooks and load time", async () => {
    const t = await boot();
    const { plugins } = await t.json<{ plugins: { name: string; routes: string[]; ms: number }[] }>("/api/plugins");
    expect(plugins.map(({ name }) => name)).toEqual(["kernel", "cups"]);
    expect(plugins[1]?.routes).toContain("GET /cups/:id");
    expect(plugins[1]?.ms).toEqual(expect.any(Number));
  });
});
