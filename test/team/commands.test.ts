/** What `sessarc team` and `sessarc push` say and answer. */
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import type { PushReport, TeamStatus, Withdrawal } from "../../plugins/team/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { WireServer } from "./wire-server.ts";

it("a machine joins, chooses, previews, pushes, withdraws and leaves", async () => {
  const server = await new WireServer().start();
  const home = await makeTempDir();
  await writeDemo({ home });
  const run = (...args: string[]) => runCommand(args, home);
  await run("import", "--tool", "claude-code");

  expect(await run("team")).toMatchObject({ code: 3, stderr: expect.stringContaining("no team") });
  expect(await run("push")).toMatchObject({ code: 1, stderr: expect.stringContaining("sessarc team join <link>") });
  expect(await run("team", "join", "nonsense")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("invitation link is invalid"),
  });
  expect(await run("team", "join", server.link, "--name", "Anna")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Joined"),
  });
  expect(await run("push")).toMatchObject({ code: 1, stderr: expect.stringContaining("sessarc team projects") });

  const projects: { id: string; name: string; sessionCount: number }[] = JSON.parse(
    (await run("projects", "--json")).stdout,
  );
  const [one] = projects.toSorted((a, b) => b.sessionCount - a.sessionCount);
  const chosen = await run("team", "projects", one?.name ?? "", "--space", "everyone");
  expect(chosen).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`${one?.name}\\s+Everyone`)) });

  const preview = await run("push", "--dry-run");
  expect(preview.code).toBe(0);
  expect(preview.stdout).toMatch(/\d+ sessions would leave for http.*messages.*B/);
  expect(server.sessions.size).toBe(0);
  const pushed: PushReport & { sessions: unknown[] } = JSON.parse((await run("push", "--json")).stdout);
  expect(pushed).toMatchObject({ failed: [], dryRun: false });
  expect(pushed.sessions).toHaveLength(pushed.pushed);
  expect(server.sessions.size).toBe(pushed.pushed);
  expect(await run("push", "--since", "someday")).toMatchObject({ code: 2 });

  const status: TeamStatus = JSON.parse((await run("team", "status", "--ask", "--json")).stdout);
  expect(status.servers).toMatchObject([
    { pushed: pushed.pushed, problem: null, projects: [{ id: one?.id, space: 2 }] },
  ]);

  const [id = ""] = [...server.sessions.keys()];
  expect(await run("team", "withdraw", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  const withdrawn: Withdrawal = JSON.parse((await run("team", "withdraw", id, "--yes", "--json")).stdout);
  expect(withdrawn).toMatchObject({ removed: [{ id }], receipt: expect.any(String) });
  expect((await run("push")).stdout).toContain("0 sessions pushed");
  expect(server.sessions.has(id)).toBe(false);
  expect(await run("team", "projects", one?.name ?? "", "--remove")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("withdraw --project"),
  });
  expect((await run("team", "open")).stdout).toContain(`${server.address}/auth/`);
  expect(await run("team", "leave", "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("still there"),
  });
  expect(await run("team", "fly")).toMatchObject({ code: 2, stderr: expect.stringContaining("takes serve, join") });
});

it("what is known here is listed while the server is down", async () => {
  const server = await new WireServer().start();
  const home = await makeTempDir();
  await writeDemo({ home });
  await runCommand(["import", "--tool", "claude-code"], home);
  await runCommand(["team", "join", server.link], home);
  await server.stop();
  const { code, stdout } = await runCommand(["team", "status"], home);
  expect(code).toBe(0);
  expect(stdout).toContain("No project is chosen");
});
