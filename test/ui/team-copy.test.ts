/** A deletion asks whether a team's server keeps its copy. */
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { WireServer } from "../team/wire-server.ts";
import { violations } from "./axe.ts";
import { describeUi, load, projectId, type Stage, useStage } from "./browser.ts";

describeUi("dashboard: deleting what is on a team's server", () => {
  const get = useStage({ fill: (home) => writeDemo({ home }) });
  const send = ({ served }: Stage, method: string, path: string, body: object) =>
    served.kernel.fetch(`/api${path}`, { method, body: JSON.stringify(body) });

  it("offers to withdraw it there, and does not where nothing was pushed", async () => {
    const stage = get();
    const { page } = stage;
    const tidepool = await projectId(stage, "tidepool");
    const server = await new WireServer().start();
    await send(stage, "POST", "/team/join", { link: server.link });
    await send(stage, "PUT", "/team/projects", { add: [tidepool] });
    expect((await send(stage, "POST", "/team/push", {})).status).toBe(200);
    const there = [...server.sessions.keys()];
    expect(there.length).toBeGreaterThan(1);
    const withdraw = page.getByRole("checkbox", { name: /Withdraw there first/ });
    const dialog = page.getByRole("dialog");
    const confirm = () => dialog.getByRole("button", { name: "Delete" }).click();

    // One session: the box is empty at first, and then the team's copy stays.
    const id = there.find((one) => server.sessions.get(one)?.manifest.summary.parent === undefined) ?? "";
    await load(stage, `/sessions/${encodeURIComponent(id)}`);
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Delete from archive" }).click();
    await withdraw.waitFor();
    expect(await withdraw.isChecked()).toBe(false);
    expect(await dialog.innerText()).toContain(`also on the team's server ${server.address}.`);
    expect(await violations(stage, "[role=dialog]")).toEqual([]);
    await confirm();
    await page.getByRole("heading", { level: 1, name: "tidepool" }).waitFor();
    expect(server.sessions.has(id)).toBe(true);

    // A project that was not pushed.
    await load(stage, "/projects?q=ledger");
    await page.getByRole("button", { name: "Actions for ledger" }).click();
    const asked = page.waitForResponse((answer) => answer.url().endsWith("/api/team/pushed"));
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await asked;
    expect(await withdraw.count()).toBe(0);
    await page.keyboard.press("Escape");

    // Chosen sessions of a list.
    await load(stage, `/sessions?project=${tidepool}`);
    await page
      .getByRole("checkbox", { name: /^Select / })
      .first()
      .check();
    await page.getByRole("button", { name: "Delete…" }).click();
    await withdraw.check();
    const before = server.sessions.size;
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect(server.sessions.size).toBeLessThan(before);

    // The rest of the project.
    await load(stage, "/projects?q=tidepool");
    await page.getByRole("button", { name: "Actions for tidepool" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await withdraw.check();
    await confirm();
    await page.getByText("No project matches “tidepool”.").waitFor();
    expect([...server.sessions.keys()]).toEqual([id]);
    expect(stage.problems()).toEqual([]);
  });
});
