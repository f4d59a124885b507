/** What an owner's and a member's commands print, in a terminal of 80 and of 160 columns. */

import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import type { TeamStatus } from "../../plugins/team/index.ts";
import { runCommand } from "../command.ts";
import { engines } from "./postgres.ts";
import { type Served, serveTeam } from "./served.ts";

const NOW = new Date("2026-11-20T15:00:00Z");
let server: Served;
let olga: string;
let mika: string;

beforeAll(async () => {
  // The name of a machine that joins.
  vi.spyOn(os, "hostname").mockReturnValue("laptop");
  syncBuiltinESMExports();
  const [engine] = engines();
  if (!engine) throw new Error("no engine");
  server = await serveTeam(engine);
  [olga, mika] = [await mkdtemp(join(tmpdir(), "sessarc-team-")), await mkdtemp(join(tmpdir(), "sessarc-team-"))];
  for (const home of [olga, mika]) await writeDemo({ home, now: NOW });
});
afterAll(async () => {
  vi.mocked(os.hostname).mockRestore();
  syncBuiltinESMExports();
  await server?.close();
  for (const home of [olga, mika]) if (home) await rm(home, { recursive: true, force: true });
});

/** Ids, links, days and addresses as they are in every run, each as long as it was. */
function steady(text: string): string {
  const ids = new Map<string, string>();
  const same = (id: string) => {
    if (!ids.has(id)) ids.set(id, String(ids.size + 1).padStart(id.length, "0"));
    return ids.get(id) ?? "";
  };
  return (
    text
      .replaceAll(server.url, "https://team.test")
      .replace(/#[\w-]{43}/g, "#CODE")
      .replace(/\b[0-9a-f]{16}\b|\b[0-9a-f]{12}\b(?!-)|(?<=machine )[0-9a-f]{8}\b/g, same)
      .replace(/\d{4}-\d\d-\d\d(?:([ T])\d\d:\d\d(?::\d\d)?)?/g, (at) => "2026-11-28 12:00:00".slice(0, at.length))
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
      .replace(/\u001b\[\d+m/g, "")
      .trimEnd()
  );
}
async function run(home: string, columns: number, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, home, {}, columns);
  return [`exit ${code}`, ...(stdout ? [steady(stdout)] : []), ...(stderr ? [`stderr: ${steady(stderr)}`] : [])].join(
    "\n",
  );
}
/** In both widths; one text where they are equal. */
async function inBoth(home: string, ...args: string[]): Promise<string> {
  const [narrow, wide] = [await run(home, 80, ...args), await run(home, 160, ...args)];
  // Tables fit; sentences wrap.
  for (const line of narrow.split("\n").filter((one) => / {2}/.test(one)))
    expect(line.length, line).toBeLessThanOrEqual(80);
  return narrow === wide ? narrow : `80 columns: ${narrow}\n160 columns: ${wide}`;
}

it("a team from its first machine to a revoked one", async () => {
  for (const home of [olga, mika]) await runCommand(["import", "--tool", "claude-code"], home);
  const joinAs = (home: string, link: string, name: string) => run(home, 80, "team", "join", link, "--name", name);
  expect(await joinAs(olga, server.ownerLink, "Olga")).toMatchInlineSnapshot(`
    "exit 0
    Joined https://team.test as Olga. Nothing was pushed.
    Choose what may leave this machine: \`sessarc team projects <project>…\`, then \`sessarc push --dry-run\`."
  `);
  expect(await run(olga, 80, "team", "invite")).toMatchInlineSnapshot(`
    "exit 0
    https://team.test/join#CODE
    stderr: Good once, until 2026-11-28. Send it over a line that others cannot read."
  `);
  const { stdout } = await runCommand(["team", "invite", "--days", "1"], olga);
  expect(await joinAs(mika, stdout.trim(), "Mika with a name that is long enough to be cut")).toMatchInlineSnapshot(`
    "exit 0
    Joined https://team.test as Mika with a name that is long enough to be cut. Nothing was pushed.
    Choose what may leave this machine: \`sessarc team projects <project>…\`, then \`sessarc push --dry-run\`."
  `);
  expect(await joinAs(mika, stdout.trim(), "Mika")).toMatchInlineSnapshot(`
    "exit 1
    stderr: error This machine has joined https://team.test already
          Run \`sessarc team leave\` first if you want to join as another person."
  `);
  expect(await run(olga, 80, "team", "spaces", "tide", "Zora")).toMatchInlineSnapshot(`
    "exit 1
    stderr: error Zora is not the name or id of one person of the team; there are Olga (000000000001), Mika with a name that is long enough to be cut (000000000002)
          Name a person by the id, or by a name that only one has."
  `);
  const { servers } = JSON.parse((await runCommand(["team", "--json"], mika)).stdout) as TeamStatus;
  const mikasId = servers[0]?.person.id ?? "";
  await runCommand(["team", "spaces", "a project space with a name of many words", mikasId], olga);
  expect(await inBoth(olga, "team", "spaces")).toMatchInlineSnapshot(`
    "80 columns: exit 0
    space                               kind     people
    Team                                team     Olga, Mika with a name that is lon…
    Olga                                private  Olga
    Mika with a name that is long eno…  private  Mika with a name that is long enou…
    a project space with a name of ma…  project  Mika with a name that is long enou…
    160 columns: exit 0
    space                                           kind     people
    Team                                            team     Olga, Mika with a name that is long enough to be cut
    Olga                                            private  Olga
    Mika with a name that is long enough to be cut  private  Mika with a name that is long enough to be cut
    a project space with a name of many words       project  Mika with a name that is long enough to be cut"
  `);
  expect(await inBoth(olga, "team", "people")).toMatchInlineSnapshot(`
    "80 columns: exit 0
    person                            id            spaces
    Olga                              000000000001  Team, Olga
    Mika with a name that is long e…  000000000002  Team, Mika with a name that is …

    machine  id                person                  may              last seen
    laptop   0000000000000003  Olga                    push, read, own  2026-11-28
    laptop   0000000000000004  Mika with a name that…  push, read
    160 columns: exit 0
    person                                          id            spaces
    Olga                                            000000000001  Team, Olga
    Mika with a name that is long enough to be cut  000000000002  Team, Mika with a name that is long enough to be cut, a project space with a name of many words

    machine  id                person                                          may              last seen
    laptop   0000000000000003  Olga                                            push, read, own  2026-11-28
    laptop   0000000000000004  Mika with a name that is long enough to be cut  push, read"
  `);
  expect(await run(mika, 80, "team", "invite", "--scopes", "own")).toMatchInlineSnapshot(`
    "exit 1
    stderr: error The team's server https://team.test refuses this machine (TEAM_FORBIDDEN): This sign-in may not do that: it needs the right \`own\`
          The server advises: Ask an owner of the team for an invitation with that right."
  `);

  expect(await run(mika, 80, "team", "projects", "tidepool", "--space", "team")).toMatchInlineSnapshot(`
    "exit 0
    https://team.test  Mika with a name that is long enough to be cut, machine 00000001
    spaces: Team, Mika with a name that is long enough to be cut, a project space with a name of many words; projects go to Mika with a name that is long enough to be cut
    0 sessions pushed
    project   space  sessions
    tidepool  Team          5"
  `);
  expect(await inBoth(mika, "push", "--dry-run")).toMatchInlineSnapshot(`
    "80 columns: exit 0
    project   session               title        messages    bytes  masked  doubtful
    tidepool  claude-code:177ac07…  High and l…        26  6.9 KiB       0         0
    tidepool  claude-code:177ac07…                      8  3.0 KiB       0         0
    tidepool  claude-code:4254c86…                      9  3.8 KiB       0         0
    tidepool  claude-code:744507b…  Why the bu…        26   12 KiB       0         0
    tidepool  claude-code:c04a57e…  Several st…        20  6.0 KiB       0         0
    tidepool  claude-code:ffb5bcd…  Extremes b…        14  4.0 KiB       0         0
    6 sessions would leave for https://team.test, 103 messages, 36 KiB
    160 columns: exit 0
    project   session                                                                   title                            messages    bytes  masked  doubtful
    tidepool  claude-code:177ac078-a94e-4b33-9a99-000000000001                          High and low water times               26  6.9 KiB       0         0
    tidepool  claude-code:177ac078-a94e-4b33-9a99-000000000001:agent-43ffe14d48abebbf0                                          8  3.0 KiB       0         0
    tidepool  claude-code:4254c867-e60e-4a16-908e-000000000002                                                                  9  3.8 KiB       0         0
    tidepool  claude-code:744507b3-6114-4719-afff-000000000003                          Why the build server fails             26   12 KiB       0         0
    tidepool  claude-code:c04a57e0-7ea1-445b-8808-000000000004                          Several stations instead of one        20  6.0 KiB       0         0
    tidepool  claude-code:ffb5bcd8-f9f5-4571-b6c5-000000000005                          Extremes by root finding               14  4.0 KiB       0         0
    6 sessions would leave for https://team.test, 103 messages, 36 KiB"
  `);
  expect(await run(mika, 80, "push")).toMatchInlineSnapshot(`
    "exit 0
    6 sessions pushed to https://team.test, 103 messages, 36 KiB"
  `);
  expect(await run(mika, 80, "team", "withdraw", "--project", "tidepool")).toMatchInlineSnapshot(`
    "exit 1
    stderr: Remove all sessions of tidepool from the team's server? Pass --yes to confirm."
  `);
  expect(await run(mika, 80, "team", "withdraw", "--project", "tidepool", "--yes")).toMatchInlineSnapshot(`
    "exit 0
    6 sessions removed from https://team.test
      claude-code:177ac078-a94e-4b33-9a99-000000000001
      claude-code:177ac078-a94e-4b33-9a99-000000000001:agent-43ffe14d48abebbf0
      claude-code:4254c867-e60e-4a16-908e-000000000002
      claude-code:744507b3-6114-4719-afff-000000000003
      claude-code:c04a57e0-7ea1-445b-8808-000000000004
      claude-code:ffb5bcd8-f9f5-4571-b6c5-000000000005
    stderr: The server signed a receipt: --json shows it."
  `);

  expect(await run(olga, 80, "team", "revoke", "desktop")).toMatchInlineSnapshot(`
    "exit 3
    stderr: No machine with access has the name or id desktop; \`sessarc team people\` lists them."
  `);
  const people = JSON.parse((await runCommand(["team", "people", "--json"], olga)).stdout) as {
    devices: { id: string; name: string; person: string }[];
  };
  expect(await run(olga, 80, "team", "revoke", "laptop")).toMatchInlineSnapshot(`
    "exit 3
    stderr: 2 machines are named laptop: pass the id of one, as \`sessarc team people\` lists it."
  `);
  const mikas = people.devices.find(({ person }) => person === mikasId)?.id ?? "";
  expect(await run(olga, 80, "team", "revoke", mikas, "--yes")).toMatchInlineSnapshot(`
    "exit 0
    laptop has no access any more. What it pushed stays."
  `);
  expect(await run(mika, 80, "team", "status", "--ask")).toMatchInlineSnapshot(`
    "exit 1
    https://team.test  Mika with a name that is long enough to be cut, machine 00000001
    spaces: Team, Mika with a name that is long enough to be cut, a project space with a name of many words; projects go to Mika with a name that is long enough to be cut
    0 sessions pushed, 6 withdrawn
    No project is chosen: nothing leaves this machine.
    stderr: The team's server https://team.test refuses this machine (TEAM_MACHINE_REVOKED): The access of this machine to the team was ended. The server advises: Ask an owner of the team for an invitation, then run \`sessarc team leave\` and \`sessarc team join <link>\`."
  `);

  expect(await run(olga, 80, "team", "remove", mikasId)).toMatchInlineSnapshot(`
    "exit 2
    stderr: error Say what becomes of the private space: --give PERSON lets that person read it, --delete-private deletes it
          \`sessarc team --help\` shows its usage."
  `);
  expect(await run(olga, 80, "team", "remove", mikasId, "--delete-private")).toMatchInlineSnapshot(`
    "exit 1
    stderr: End the access of 000000000001 with all machines, tokens and invitations at once, and delete the private space? Pass --yes to confirm."
  `);
  expect(await run(olga, 80, "team", "remove", mikasId, "--delete-private", "--yes")).toMatchInlineSnapshot(`
    "exit 0
    000000000001 has no access any more. What was pushed to shared spaces stays.
      deleted: 0 private sessions"
  `);
  expect(await run(olga, 80, "team", "revoke", mikas, "--stolen", "--yes")).toMatchInlineSnapshot(`
    "exit 0
    laptop has no access any more. What it pushed stays."
  `);

  const [{ stdout: log }, narrow] = [
    await runCommand(["team", "access", "--json"], olga),
    await inBoth(olga, "team", "access", mikasId),
  ];
  const { entries } = JSON.parse(log) as { entries: { path: string; person: string | null }[] };
  expect(entries.map(({ person }) => person)).toContain("Olga");
  expect(narrow.split("\n").slice(0, 3).join("\n")).toMatchInlineSnapshot(`
    "80 columns: exit 0
    time (UTC)           person           machine  request           answer
    2026-11-28 12:00:00  Mika with a na…  laptop   POST /team/api/…  200"
  `);
  expect(await run(mika, 80, "team", "leave", "--yes")).toMatchInlineSnapshot(`
    "exit 0
    Left https://team.test; 0 sessions still there."
  `);
});
