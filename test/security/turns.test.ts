/** Exports without a reader hold little, and keep others waiting no longer than they may. */
import { expect, it } from "vitest";
import { inPieces } from "../../plugins/security/export/turns.ts";
import { SESSION, startWith } from "./_kernel.ts";

it("so many exports are made at once, the next ones wait until one is read or given up", async () => {
  const t = await startWith([{ role: "user", text: "hello" }]);
  const ask = (signal?: AbortSignal) => t.fetch(`/api/sessions/${SESSION}/export-redacted`, signal ? { signal } : {});
  const open = await Promise.all([ask(), ask(), ask(), ask()]);
  let answered = 0;
  const later = [ask(), ask(), ask()].map((one) => one.finally(() => answered++));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(answered).toBe(0);
  expect(await open[0]?.text()).toContain("hello");
  await open[1]?.body?.cancel();
  await expect.poll(() => answered).toBe(2);
  for (const one of open.slice(2)) expect(await one.text()).toContain("hello");
  for (const one of await Promise.all(later)) expect(await one.text()).toContain("hello");
});

it("a document comes whole, and one without a reader is aborted", async () => {
  const document = Buffer.alloc(300_000, "ab");
  let ended = 0;
  expect(await new Response(inPieces(document, () => ended++)).text()).toBe(document.toString());
  expect(ended).toBe(1);
  const stalled = inPieces(document, () => ended++, 20).getReader();
  await stalled.read();
  await expect.poll(() => ended).toBe(2);
  await expect(stalled.read()).rejects.toThrow("did not read");
});

it.each([
  ["GET", "export-redacted"],
  ["GET", "security-check"],
  ["POST", "share"],
])("%s %s of a session that is deleted meanwhile answers that there is none", async (method, path) => {
  const t = await startWith([{ role: "user", text: "hello" }]);
  const { pool } = t.kernel;
  const run = pool.run.bind(pool);
  // The work begins when the session is gone.
  pool.run = async (...args) => {
    pool.run = run;
    expect((await t.send("DELETE", `/api/sessions/${SESSION}`)).status).toBe(200);
    await t.send("POST", "/api/vacuum", {});
    return run(...args);
  };
  const body = method === "POST" ? {} : undefined;
  const { status, body: answer } = await t.send<{ code: string }>(method, `/api/sessions/${SESSION}/${path}`, body);
  expect([status, answer.code]).toEqual([404, "SESSION_NOT_FOUND"]);
});
