/** Services that people sign in to: the whole way round, and where tokens may go. */
import { readdir, readFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { letters } from "../security/_samples.ts";
import { serveHub } from "./_hub.ts";
import { createOAuthService } from "./_oauth.ts";

/** As a browser that comes from another place. */
const visit = (url: string) =>
  new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    get(url, { headers, agent: false }, async (answer) => {
      const { statusCode: status = 0 } = answer;
      resolve({ status, type: answer.headers["content-type"] ?? "", body: await text(answer) });
    }).on("error", reject);
  });

async function start(home?: string) {
  // With tokens of our own: the browser comes back without one.
  const hub = await serveHub({ ...(home ? { home } : {}), flags: { auth: true } });
  const said: string[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const response = await hub.kernel.fetch(`/api/mcp/${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = await response.text();
    said.push(answer);
    return { status: response.status, answer };
  };
  const whoami = () => ask("POST", "call", { name: "guarded__whoami" });
  /** Answers what the browser shows in the end. */
  async function signIn() {
    const { status, answer } = await ask("POST", "services/guarded/sign-in");
    expect([status, answer]).toEqual([200, answer]);
    const { url } = JSON.parse(answer) as { url: string };
    said.pop();
    const { headers } = await fetch(url, { redirect: "manual" });
    const back = headers.get("location") ?? "";
    return { url, back, page: await visit(back) };
  }
  return { ...hub, ask, said, whoami, signIn };
}

describe("mcp-hub: signing in", () => {
  it("brings a token that is refreshed once for all, kept over a restart, and goes to its service alone", async () => {
    const guarded = await createOAuthService();
    const header = `h${letters(28, 3)}9`;
    const one = await start();
    await one.add("guarded", { url: guarded.url, headers: { "X-Team": header } });
    expect(await one.whoami()).toMatchObject({
      status: 502,
      answer: expect.stringContaining("sessarc mcp sign-in guarded"),
    });

    const { url, back, page } = await one.signIn();
    expect(new URL(url).searchParams.get("code_challenge_method")).toBe("S256");
    expect(page).toMatchObject({
      status: 200,
      type: expect.stringContaining("text/html"),
      body: expect.stringContaining("guarded"),
    });
    expect((await visit(back)).status).toBe(502);
    expect((await visit(back.replace(/state=[^&]+/, "state=mine"))).status).toBe(502);
    expect(await one.whoami()).toMatchObject({ status: 200, answer: expect.stringContaining("somebody") });

    guarded.expire();
    const both = await Promise.all([one.whoami(), one.whoami(), one.whoami()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(guarded.refreshes()).toBe(1);
    await one.ask("GET", "services");
    await one.ask("GET", "log?limit=1000");
    await one.close();

    const two = await start(one.home);
    expect((await two.whoami()).status).toBe(200);
    const files: string[] = [];
    for (const entry of await readdir(join(one.home, "data"), { withFileTypes: true, recursive: true }))
      if (entry.isFile()) files.push((await readFile(join(entry.parentPath, entry.name))).toString("latin1"));
    const token = /(access|refresh|code)-[0-9a-f]{36}/;
    for (const place of [...one.said, ...two.said, ...files]) expect(place).not.toMatch(token);
    expect(guarded.issuer.seen.join("\n")).not.toContain(header);
    expect(guarded.issuer.seen.join("\n")).not.toMatch(/"authorization"/);
    expect(guarded.service.seen.join("\n")).not.toMatch(/refresh-[0-9a-f]/);

    // The same service elsewhere is another one.
    const other = await createOAuthService();
    await two.kernel.inject("mcp").services.update("guarded", { url: other.url });
    expect((await two.whoami()).status).toBe(502);
    expect(other.service.seen.join("\n")).not.toMatch(token);
  });

  it("is needed again when it was revoked, and refused where it makes no sense", async () => {
    const guarded = await createOAuthService();
    const { add, whoami, signIn, ask } = await start();
    await add("guarded", { url: guarded.url });
    await signIn();
    expect((await whoami()).status).toBe(200);
    guarded.revoke();
    expect(await whoami()).toMatchObject({ status: 502, answer: expect.stringContaining("sign-in") });
    await signIn();
    expect((await whoami()).status).toBe(200);

    await add("local", { command: "x" });
    await add("known", { url: guarded.url, credential: { kind: "bearer", value: "b" } });
    await add("away", { url: "http://127.0.0.1:1/mcp" });
    expect((await ask("POST", "services/nobody/sign-in")).status).toBe(404);
    expect((await ask("POST", "services/local/sign-in")).status).toBe(409);
    expect((await ask("POST", "services/known/sign-in")).status).toBe(409);
    expect((await ask("POST", "services/away/sign-in")).status).toBe(502);
  });
});
