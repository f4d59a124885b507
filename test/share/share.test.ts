import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Share } from "../../plugins/share/index.ts";
import { createShares } from "../../plugins/share/shares.ts";
import { createClock } from "../clock.ts";
import { SESSION, startWith } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";

interface Created {
  id: string;
  token: string;
  url: string;
  expiresAt: string;
  redactions: Record<string, number>;
}
const token = `ghp_${letters(36, 81)}`;
const ROWS = [
  { role: "user", text: `publish with ${token}` },
  { role: "assistant", text: "Done: see **this**." },
] as const;
type Kernel = Awaited<ReturnType<typeof startWith>>;
const share = async (t: Kernel, body: object = {}) =>
  (await t.send<Created>("POST", `/api/sessions/${SESSION}/share`, body)).body;
const clock = createClock();
const shares = async (t: Kernel) => (await t.json<{ shares: Share[] }>("/api/shares")).shares;
const head = (response: Response) =>
  Object.fromEntries([...response.headers.entries()].filter(([name]) => name !== "date"));

describe("share", () => {
  it("S6: freezes a redacted copy, title included", async () => {
    const t = await startWith(ROWS);
    const { status, body } = await t.send<Created>("POST", `/api/sessions/${SESSION}/share`, {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ redactions: { "github-pat": expect.any(Number) } });
    expect(body.token).toMatch(/^[\w-]{43}$/);
    expect(body.url.endsWith(`/share/${body.token}`)).toBe(true);
    expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
    const page = await (await t.fetch(`/share/${body.token}`)).text();
    expect(page).toContain("<strong>this</strong>");
    expect(page).toContain("[REDACTED:github-pat#");
    expect(page + JSON.stringify(await shares(t))).not.toContain(token.slice(4, 14));
    const folder = join(t.home, "data/files/shares");
    for (const name of await readdir(folder)) expect(await readFile(join(folder, name), "utf8")).not.toContain(token);
  });

  it("keeps no token, only its digest", async () => {
    const t = await startWith(ROWS);
    const { token: own, id } = await share(t);
    expect(JSON.stringify(await shares(t))).not.toContain(own);
    for (const file of ["catalog.db", "catalog.db-wal"])
      expect((await readFile(join(t.home, "data", file))).includes(own)).toBe(false);
    expect(await shares(t)).toMatchObject([{ id, sessionId: SESSION, views: 0, state: "active" }]);
  });

  it("gives its page to who made it without the token: no view is counted, as a file too, and nothing once it ended", async () => {
    const t = await startWith(ROWS);
    const { id, token: own } = await share(t);
    const linked = await (await t.fetch(`/share/${own}`)).text();
    const page = await t.fetch(`/api/shares/${id}/page`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-disposition")).toBeNull();
    expect(await page.text()).toBe(linked);
    const file = await t.fetch(`/api/shares/${id}/page?download=1`);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename=".+\.html"$/);
    expect(await shares(t)).toMatchObject([{ id, views: 1 }]);
    await t.send("DELETE", `/api/shares/${id}`);
    const ended = await t.fetch(`/api/shares/${id}/page`);
    expect([ended.status, ((await ended.json()) as { code: string }).code]).toEqual([409, "SHARE_ENDED"]);
    expect((await t.fetch("/api/shares/nothing/page")).status).toBe(404);
  });

  it("answers unknown, expired and revoked with the same bytes", async () => {
    const t = await startWith(ROWS);
    const [expired, revoked] = [await share(t), await share(t)];
    await t.kernel.storage.db.run("update share set expires_at = ? where id = ?", [Date.now() - 1, expired.id]);
    expect((await t.send("DELETE", `/api/shares/${revoked.id}`)).body).toEqual({ revoked: true });
    const answers = [];
    for (const path of [
      `/share/${expired.token}`,
      `/share/${revoked.token}`,
      "/share/nothing",
      `/share/${"A".repeat(43)}`,
    ]) {
      const response = await t.fetch(path);
      answers.push({ status: response.status, headers: head(response), body: await response.text() });
    }
    expect(answers[0]?.status).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect((await shares(t)).map(({ state }) => state).sort()).toEqual(["expired", "revoked"]);
    expect((await t.send("DELETE", "/api/shares/none")).status).toBe(404);
  });

  it("a view that cannot be counted is shown all the same", async () => {
    const t = await startWith(ROWS);
    const { token: own } = await share(t);
    await t.kernel.storage.db.run(
      "create trigger full before update of views on share begin select raise(abort, 'full'); end",
    );
    const response = await t.fetch(`/share/${own}`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("<strong>this</strong>")]);
    expect(String(t.errors.splice(0))).toContain("full");
  });

  it("a copy that is made while the service looks for what a kill left stays", async () => {
    const t = await startWith(ROWS);
    const { files } = t.kernel.storage;
    const { getKeys } = files;
    for (const before of [true, false]) {
      let made: Created | undefined;
      files.getKeys = async (...args) => {
        files.getKeys = getKeys;
        if (before) made = await share(t);
        const keys = await getKeys(...args);
        made ??= await share(t);
        return keys;
      };
      const other = createShares(t.kernel);
      other.start();
      await other.stop();
      expect((await t.fetch(`/share/${made?.token}`)).status, String(before)).toBe(200);
    }
  });

  it("deletes the copy of an expired share when the archive is vacuumed, right after another check", async () => {
    const t = await startWith(ROWS);
    const { id } = await share(t);
    const shown = t.kernel.inject("shares");
    expect(await shown.expire()).toBe(0);
    await t.kernel.storage.db.run("update share set expires_at = ? where id = ?", [Date.now() - 1, id]);
    await shown.forgetEnded();
    expect(await readdir(join(t.home, "data/files/shares"))).toEqual([]);
  });

  it("D12: compares times as numbers, and deletes copies that expired or were revoked", async () => {
    const t = await startWith(ROWS);
    const { id, token: own } = await share(t, { expiresInDays: 1 });
    const { id: other } = await share(t);
    const shown = t.kernel.inject("shares");
    const now = Date.now();
    expect(await shown.open(own, now + 86_000_000)).toBeDefined();
    expect(await shown.open(own, now + 86_500_000)).toBeUndefined();
    expect(await shown.open(own, 9_999_999_999_999)).toBeUndefined();
    const files = async () => (await readdir(join(t.home, "data/files/shares"))).sort();
    expect(await files()).toHaveLength(4);
    expect(await shown.expire(now + 86_500_000)).toBe(1);
    expect(await files()).toEqual([`${other}.html`, `${other}.json`]);
    await t.send("DELETE", `/api/shares/${other}`);
    expect(await files()).toEqual([]);
    expect(await shown.expire(now + 90_000_000)).toBe(0);
    expect((await shares(t)).map((one) => one.id).sort()).toEqual([id, other].sort());
  });

  it("counts views of the page alone: no HEAD, no 404", async () => {
    const t = await startWith(ROWS);
    const { token: own, id } = await share(t);
    expect((await t.fetch(`/share/${own}`, { method: "HEAD" })).status).toBe(200);
    await t.fetch("/share/none");
    await t.fetch(`/share/${own}`);
    await t.fetch(`/share/${own}?download=1`);
    expect((await shares(t)).find((one) => one.id === id)?.views).toBe(2);
  });

  it("sends the headers that keep a page to itself", async () => {
    const t = await startWith(ROWS);
    const { token: own } = await share(t);
    const response = await t.fetch(`/share/${own}?download=1`);
    const headers = head(response);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "x-robots-tag": "noindex, nofollow",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers["content-disposition"]).toMatch(
      /^attachment; filename="sessarc-claude-code-2026-11-01-[0-9a-f]{8}\.html"$/,
    );
  });

  it("stays when the session goes, and takes only sensible times", async () => {
    const t = await startWith(ROWS);
    const { token: own } = await share(t, { expiresInDays: 90 });
    for (const expiresInDays of [0, -1, 91, "7", 0.0001])
      expect((await t.send("POST", `/api/sessions/${SESSION}/share`, { expiresInDays })).status).toBe(400);
    await t.send("DELETE", `/api/sessions/${SESSION}`);
    expect((await t.fetch(`/share/${own}`)).status).toBe(200);
    expect((await t.send("POST", `/api/sessions/${SESSION}/share`, {})).status).toBe(404);
  });

  it("a long frozen copy is compared in slices", async () => {
    const t = await startWith(ROWS);
    const { id } = await share(t);
    await t.kernel.storage.files.setItemRaw(`shares:${id}.html`, Buffer.alloc(8 << 20));
    let [turns, isDone] = [0, false];
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    // Each look at the clock finds a slice used up.
    expect(await clock.during(20, () => t.kernel.inject("shares").damaged())).toEqual([id]);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(16);
  });

  it("a share that was revoked with undo opens nothing at once and, within two minutes, can be restored", async () => {
    const t = await startWith(ROWS);
    const { id, token: own } = await share(t);
    const heard: string[] = [];
    t.kernel.hooks.hook("share:revoked", (one) => void heard.push(`revoked ${one.id}`));
    t.kernel.hooks.hook("share:restored", (one) => void heard.push(`restored ${one.id}`));
    const unknown = await t.fetch("/share/nothing");
    const same = { status: 404, headers: head(unknown), body: await unknown.text() };
    const files = async () => (await readdir(join(t.home, "data/files/shares"))).length;

    expect((await t.send("DELETE", `/api/shares/${id}?undo=1`)).body).toEqual({ revoked: true, undoMs: 120_000 });
    const response = await t.fetch(`/share/${own}`);
    expect({ status: response.status, headers: head(response), body: await response.text() }).toEqual(same);
    expect(await shares(t)).toMatchObject([{ id, state: "revoked" }]);
    // What is over is swept every minute: not this one yet.
    expect([await t.kernel.inject("shares").expire(), await files()]).toEqual([0, 2]);

    expect(await t.send("POST", `/api/shares/${id}/restore`)).toMatchObject({
      status: 200,
      body: { id, state: "active" },
    });
    expect((await t.fetch(`/share/${own}`)).status).toBe(200);
    // A second click changes nothing.
    expect((await t.send("POST", `/api/shares/${id}/restore`)).status).toBe(200);
    expect(heard).toEqual([`revoked ${id}`, `restored ${id}`]);
    expect((await t.send("POST", "/api/shares/none/restore")).status).toBe(404);
  });

  it("a share is not restored after two minutes, after its expiry, nor when it was revoked without undo", async () => {
    const t = await startWith(ROWS);
    const ended = { status: 409, body: { code: "SHARE_ENDED", fix: expect.stringContaining("new link") } };
    const made = [await share(t), await share(t), await share(t)] as const;
    const service = t.kernel.inject("shares");
    const files = async () => (await readdir(join(t.home, "data/files/shares"))).length;
    const restore = (id: string) => t.send("POST", `/api/shares/${id}/restore`);

    await t.send("DELETE", `/api/shares/${made[0].id}`);
    expect(await restore(made[0].id)).toMatchObject(ended);
    // Undo is taken from it by revoking it once more, without.
    await t.send("DELETE", `/api/shares/${made[1].id}?undo=1`);
    await t.send("DELETE", `/api/shares/${made[1].id}`);
    expect(await restore(made[1].id)).toMatchObject(ended);
    expect(await files()).toBe(2);

    await t.send("DELETE", `/api/shares/${made[2].id}?undo=1`);
    const late = Date.now() + 121_000;
    await expect(service.restore(made[2].id, late)).rejects.toMatchObject({ code: "SHARE_ENDED" });
    expect([await service.expire(late), await files()]).toEqual([1, 0]);
    expect(await restore(made[2].id)).toMatchObject(ended);

    // One that expired meanwhile, too.
    const short = await share(t);
    await t.send("DELETE", `/api/shares/${short.id}?undo=1`);
    await t.kernel.storage.db.run("update share set expires_at = ? where id = ?", [Date.now() - 1, short.id]);
    expect(await restore(short.id)).toMatchObject(ended);
  });
});
