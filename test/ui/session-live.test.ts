/** "live" in a list and on a session's page is what the API says of the session; following a quiet one is no more than that. */
import { utimes } from "node:fs/promises";
import { expect, it } from "vitest";
import { describeUi, load, type Stage, useStage } from "./browser.ts";
import { type LongSession, writeLongSession } from "./long-session.ts";

describeUi("dashboard: live", () => {
  let now: LongSession = { id: "", path: "" };
  let old: LongSession = { id: "", path: "" };
  const get = useStage({
    fill: async (home) => {
      now = await writeLongSession(home, 40, Date.now() - 5_000);
      // Live is what was written within two minutes; a busy machine takes longer until the page is checked.
      const hourAhead = new Date(Date.now() + 3_600_000);
      await utimes(now.path, hourAhead, hourAhead);
      old = await writeLongSession(home, 40, Date.UTC(2026, 10, 20, 18), 1);
    },
  });
  const pill = ({ page }: Stage) => page.locator("header [role=status]");
  const api = async ({ url }: Stage, id: string) =>
    ((await (await fetch(`${url}/api/sessions/${id}`)).json()) as { session: { live: boolean } }).session.live;
  /** As when the page is visible again: what is polled is asked for. */
  const look = ({ page }: Stage) => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));

  it("is said of the session that is written to, in its page and in the list, until it goes quiet", async () => {
    const stage = get();
    const { page, url } = stage;
    expect([await api(stage, now.id), await api(stage, old.id)]).toEqual([true, false]);
    await load(stage, `/sessions/${old.id}?tail=1`);
    await pill(stage).getByText("following", { exact: true }).waitFor();
    expect(await pill(stage).innerText()).toBe("following");
    const { session } = (await (await fetch(`${url}/api/sessions/${now.id}`)).json()) as {
      session: { projectId: string };
    };
    const list = `/projects/${session.projectId}?tab=sessions`;
    await load(stage, list);
    const said = page.getByRole("table", { name: "Sessions" }).getByText("live", { exact: true });
    await said.first().waitFor();
    expect(await said.count()).toBe(1);
    await load(stage, `/sessions/${now.id}`);
    await pill(stage).getByText("live", { exact: true }).waitFor();
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(now.path, hourAgo, hourAgo);
    const imported = await fetch(`${url}/api/import`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"all":true}',
    });
    expect(imported.ok).toBe(true);
    expect(await api(stage, now.id)).toBe(false);
    await look(stage);
    await pill(stage).getByText("following", { exact: true }).waitFor();
    await load(stage, list);
    await page.getByRole("table", { name: "Sessions" }).locator("a").first().waitFor();
    expect(await said.count()).toBe(0);
  });
});
