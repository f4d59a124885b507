/** The service as a process: ports, signals, connections that stay open. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { definePlugin } from "sessarc";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readDiscovery } from "../../core/http/access.ts";
import { deferred, makeTempDir, sendRaw, serveTest } from "../_setup.ts";
import { childScript } from "../scripts.ts";

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("fixtures/serve/child");
});

interface Child {
  process: ChildProcess;
  lines: string[];
  url: string;
  port: number;
  ended: Promise<{ code: number | null }>;
}

async function start(dataDir: string, env: Record<string, string> = {}): Promise<Child> {
  const service = spawn(process.execPath, [...script, dataDir, "0"], {
    env: { ...process.env, HOME: dataDir, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  const lines: string[] = [];
  const ready = deferred<string>();
  const ended = once(service, "close").then(([code]) => {
    ready.reject(new Error(`The service ended with ${String(code)} before it was ready`));
    return { code: code as number | null };
  });
  createInterface({ input: service.stdout }).on("line", (line) => {
    lines.push(line);
    const url = /^sessarc ready at (http:\S+)$/.exec(line)?.[1];
    if (url) ready.resolve(url);
  });
  const url = await ready.promise;
  return { process: service, lines, url, port: Number(new URL(url).port), ended };
}

/** Opens a stream and resolves with it once its first bytes came. */
async function openStream(url: string, path: string) {
  const req = request(new URL(path, url), { agent: new Agent({ keepAlive: true }) }).end();
  const [res] = await once(req, "response");
  req.on("error", () => {});
  const closed = new Promise<void>((resolve) => res.once("close", () => resolve()));
  res.on("error", () => {});
  await once(res, "data");
  return { closed };
}

describe("signals", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "%s closes everything once, exits with 0 and loses nothing",
    async (signal) => {
      const dataDir = await makeTempDir();
      const service = await start(dataDir);
      const post = await fetch(new URL("/api/notes", service.url), { method: "POST" });
      expect(post.status).toBe(200);
      const stream = await openStream(service.url, "/api/stream");
      service.process.kill(signal);
      expect(await service.ended).toEqual({ code: 0 });
      await stream.closed;
      expect(service.lines.filter((line) => line === "closed")).toHaveLength(1);
      await expect(stat(join(dataDir, "lock.json"))).rejects.toMatchObject({ code: "ENOENT" });

      // What both signals end in is the same.
      if (signal === "SIGTERM") return;
      const again = await start(dataDir);
      expect(await (await fetch(new URL("/api/notes", again.url))).json()).toEqual([{ text: "kept" }]);
      again.process.kill("SIGKILL");
    },
  );

  it("exits although a client holds a stream that does not end, and idle connections", async () => {
    const service = await start(await makeTempDir());
    const deaf = await openStream(service.url, "/api/deaf");
    const idle = new Agent({ keepAlive: true });
    await once(
      (await once(request(new URL("/api/notes", service.url), { agent: idle }).end(), "response"))[0].resume(),
      "end",
    );
    service.process.kill("SIGTERM");
    expect(await service.ended).toEqual({ code: 0 });
    await deaf.closed;
  });

  it("a second signal exits at once", async () => {
    const service = await start(await makeTempDir(), { STUCK: "1" });
    // Its onClose never returns, so the first signal alone would take the whole time limit.
    const deaf = await openStream(service.url, "/api/stream");
    service.process.kill("SIGINT");
    await deaf.closed;
    service.process.kill("SIGINT");
    expect(await service.ended).toEqual({ code: 130 });
  });

  it("a signal ends it though a part never closes, and nothing that was answered is lost", async () => {
    const dataDir = await makeTempDir();
    const service = await start(dataDir, { STUCK: "1", LIMIT_MS: "100" });
    await fetch(new URL("/api/notes", service.url), { method: "POST" });
    service.process.kill("SIGTERM");
    await service.ended;
    expect(service.process.signalCode).toBe("SIGKILL");
    const again = await start(dataDir);
    expect(await (await fetch(new URL("/api/notes", again.url))).json()).toEqual([{ text: "kept" }]);
  });

  it("a killed process loses nothing that was answered", async () => {
    const dataDir = await makeTempDir();
    const service = await start(dataDir);
    await fetch(new URL("/api/notes", service.url), { method: "POST" });
    service.process.kill("SIGKILL");
    await service.ended;
    const again = await start(dataDir);
    expect(await (await fetch(new URL("/api/notes", again.url))).json()).toEqual([{ text: "kept" }]);
  });
});

describe("ports", () => {
  const occupy = async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  };

  it("0 takes any free one, on loopback only", async () => {
    const lines: string[] = [];
    const served = await serveTest({ out: (line) => void lines.push(line) });
    expect(served.port).toBeGreaterThan(0);
    expect(lines).toEqual([`sessarc ready at http://127.0.0.1:${served.port}/`]);
    expect((await fetch(new URL("/api/status", served.url))).status).toBe(200);
    expect(await (await fetch(new URL("/api/status", served.url))).json()).toMatchObject({ port: served.port });
  });

  it("one asked for by name that is taken is an error that names it, and leaves nothing open", async () => {
    const port = await occupy();
    const home = await makeTempDir();
    await expect(serveTest({ home, flags: { port } })).rejects.toMatchObject({
      code: "PORT_TAKEN",
      message: expect.stringContaining(String(port)),
    });
    await serveTest({ home });
  });

  it("the usual one that is taken makes room for the next free one", async () => {
    const port = await occupy();
    const { choosePort } = await import("../../core/serve/port.ts");
    const chosen = await choosePort({ host: "127.0.0.1", port, portFixed: false });
    expect(chosen).not.toBe(port);
  });

  it("the lock says where the service listens", async () => {
    const served = await serveTest();
    const { readLock } = await import("../../core/storage/lock.ts");
    expect(await readLock(served.kernel.config.dataDir)).toMatchObject({ port: served.port, url: served.url });
  });
});

describe("starting", () => {
  it("requests that come before the plugins are ready wait for them", async () => {
    const setup = deferred();
    const slow = definePlugin({ name: "slow", setup: () => setup.promise });
    const { choosePort } = await import("../../core/serve/port.ts");
    const free = await serveTest();
    const port = await choosePort({ host: "127.0.0.1", port: free.port + 1, portFixed: false });
    const serving = serveTest({ plugins: [slow()], flags: { port } });
    await opened(port);
    const answer = sendRaw(port, `GET /api/status HTTP/1.1\nHost: 127.0.0.1:${port}`);
    setup.resolve();
    expect((await answer).status).toBe(200);
    await serving;
  });

  it("a plugin that does not start stops the service and gives everything free", async () => {
    const home = await makeTempDir();
    const broken = definePlugin({
      name: "broken",
      setup: () => {
        throw new Error("no");
      },
    });
    await expect(serveTest({ home, plugins: [broken()] })).rejects.toThrow('"broken"');
    await serveTest({ home });
  });

  it("an aborted signal closes", async () => {
    const stop = new AbortController();
    const served = await serveTest({ signal: stop.signal });
    stop.abort();
    await served.closed;
    await expect(fetch(served.url)).rejects.toThrow();
  });
});

/** Resolves once something listens. */
async function opened(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
}

describe("token mode", () => {
  const auth = { auth: true };

  it("asks for the token on every route, and names the remedy", async () => {
    const served = await serveTest({ flags: auth });
    for (const path of ["/api/status", "/", "/mcp", "/api/none"]) {
      const response = await fetch(new URL(path, served.url));
      expect(response.status, path).toBe(401);
      expect(await response.json()).toMatchObject({ code: "UNAUTHORIZED", fix: expect.any(String) });
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  it("keeps the tokens in a file only the user can read", async () => {
    const served = await serveTest({ flags: auth });
    const file = join(served.kernel.config.dataDir, "access.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const found = await readDiscovery(served.kernel.config.dataDir);
    expect(found).toMatchObject({ url: served.url, pid: process.pid, login: served.loginUrl });
    const headers = { authorization: `Bearer ${found?.token}` };
    expect((await fetch(new URL("/api/status", served.url), { headers })).status).toBe(200);
    await served.close();
    expect(await readDiscovery(served.kernel.config.dataDir)).not.toHaveProperty("token");
  });

  it("the link logs in once, with a cookie no script and no other site can use", async () => {
    const served = await serveTest({ flags: auth });
    const link = served.loginUrl ?? "";
    expect((await fetch(link, { method: "HEAD" })).status).toBe(401);
    const response = await fetch(link);
    expect(response.status).toBe(200);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await fetch(link)).status).toBe(401);
    const headers = { cookie: `other=1; ${cookie.split(";")[0]}` };
    expect((await fetch(new URL("/api/status", served.url), { headers })).status).toBe(200);
    const next = await readDiscovery(served.kernel.config.dataDir);
    expect(next?.login).not.toBe(link);
    expect((await fetch(next?.login ?? "")).status).toBe(200);
  });

  it("scoped tokens open their own route alone, and stay the same over restarts", async () => {
    const home = await makeTempDir();
    const first = await serveTest({ home, flags: auth });
    const { access } = first.kernel;
    const status = async (path: string, method: string, token?: string) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      return (await fetch(new URL(path, first.url), { method, headers })).status;
    };
    const guard = access.scoped("guard");
    const mcp = access.scoped("mcp");
    // No route serves these here: 404 means that the filter allowed it.
    expect(await status("/api/security/pretooluse", "POST", guard)).toBe(404);
    expect(await status("/mcp", "POST", mcp)).toBe(404);
    expect(await status("/mcp/some-service", "POST", mcp)).toBe(404);
    for (const [path, method, token] of [
      ["/api/status", "GET", guard],
      ["/mcp", "POST", guard],
      ["/api/status", "GET", mcp],
      ["/mcpx", "GET", mcp],
      ["/api/status", "GET", "wrong"],
    ] as const) {
      expect(await status(path, method, token), `${method} ${path}`).toBe(401);
    }
    await first.close();
    const second = await serveTest({ home, flags: auth });
    expect(second.kernel.access.scoped("guard")).toBe(guard);
    expect(second.kernel.access.token).not.toBe(access.token);
  });

  it("a share needs no token but its own", async () => {
    const served = await serveTest({ flags: auth });
    expect((await fetch(new URL("/share/abc", served.url))).status).toBe(404);
  });

  it("is forced on for every address that is not loopback", async () => {
    const served = await serveTest({ flags: { host: "0.0.0.0" } });
    expect((await fetch(new URL("/api/status", served.url))).status).toBe(401);
    expect((await served.kernel.fetch("/api/status")).status).toBe(200);
  });
});
