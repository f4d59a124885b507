/** Random actions, things of others around, and a SIGKILL between any two steps: what is not ours stays, what is ours is whole. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { TestKernel } from "../kernel.ts";
import { LONG, rounds } from "../rounds.ts";
import { childScript } from "../scripts.ts";
import { type Action, act, NAMES, plantThing, TOOLS, toOriginal, toPlace } from "./actions.ts";
import { picture, plant, skillKernel } from "./world.ts";

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("skills/crash-child");
});

const name = fc.constantFrom(...NAMES);
const tool = fc.constantFrom(...TOOLS);
const thing = fc.constantFrom("folder" as const, "file" as const, "link" as const);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("import" as const), name }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("link" as const, "copy" as const), name, tool }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("unlink" as const), name, tool }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const), name, which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("delete" as const, "delete-files" as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), name, text: fc.uuid() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("plant" as const),
      name,
      tool,
      what: fc.oneof(thing, fc.constant("store-link" as const)),
    }),
  },
);
/** Nothing can be done before there is a skill. */
const actions = fc
  .array(action, { minLength: 2, maxLength: 12 })
  .map((rest): Action[] => [{ do: "import", name: "one" }, { do: "import", name: "two" }, ...rest]);

/** Everything outside the data directory. */
const outside = async (home: string) =>
  Object.fromEntries(Object.entries(await picture(home)).filter(([path]) => !path.startsWith("data")));

/** Actions in this process, watching what is at each place of a link before and after each of sessarc's. */
async function actWatched(t: TestKernel, all: readonly Action[]): Promise<void> {
  for (const one of all) {
    const links = await ours(t);
    const before = await outside(t.home);
    await act(t.kernel, one);
    if (one.do === "edit" || one.do === "plant") continue;
    const after = await outside(t.home);
    for (const [path, was] of Object.entries(before)) {
      if (isOurs(links, t.home, path)) continue;
      if (was.startsWith("folder") && after[path] === undefined) continue; // folders made for a link go with it; checked at the end
      expect([one, path, after[path]]).toEqual([one, path, was]);
    }
  }
}

/** Paths where sessarc says that a link or copy of its own stands. */
async function ours(t: TestKernel): Promise<Set<string>> {
  const skills = await t.kernel.inject("skills").list();
  return new Set(
    skills.flatMap((skill) =>
      skill.links.filter((link) => link.state === "linked" || link.mode !== null).map((link) => link.path),
    ),
  );
}
const isOurs = (links: ReadonlySet<string>, home: string, path: string) =>
  [...links].some((link) => join(home, path) === link || join(home, path).startsWith(`${link}/`));

/** Texts of edits that are in folders of the store, those that are being replaced included. */
async function editsIn(home: string): Promise<string[]> {
  const seen = await Promise.all(
    ["store", "stage"].map((name) => picture(join(home, "data/skills", name)).catch(() => ({}))),
  );
  const notes = seen.flatMap((one) => Object.entries(one)).filter(([path]) => path.endsWith("/note.txt"));
  return notes.map(([, is]) => Buffer.from(is.split(" ")[2] ?? "", "base64").toString());
}

/** What must hold after any start: nothing half done, nothing left over, every skill whole. */
async function checkWhole(t: TestKernel): Promise<void> {
  const skills = await t.kernel.inject("skills").list();
  expect(skills.filter((skill) => skill.problem !== null)).toEqual([]);
  expect(await t.kernel.storage.db.all("select * from skill_intent")).toEqual([]);
  expect(await t.kernel.storage.db.all("select path from skill_link where state <> 'made'")).toEqual([]);
  expect(await readdir(join(t.home, "data/skills/stage"))).toEqual([]);
  const leftovers = Object.keys(await outside(t.home)).filter((path) => path.includes(".sessarc-"));
  expect(leftovers).toEqual([]);
}

/** An edit is in the store, or a snapshot has it. */
async function checkEdits(home: string, edits: readonly string[]): Promise<void> {
  const present = await editsIn(home);
  for (const text of edits) {
    const hash = createHash("sha256").update(text).digest("hex");
    const object = join(home, "data/skills/objects", hash.slice(0, 2), hash.slice(2));
    const kept = present.includes(text) || lstatSync(object, { throwIfNoEntry: false }) !== undefined;
    expect([text, kept]).toEqual([text, true]);
  }
}

/** Answers how many steps there were from that action on: not always as many, since the catalogue joins what is stored at once. */
async function runChild(home: string, killAt: number, all: readonly Action[], from = 0): Promise<number> {
  const argument = JSON.stringify({ home, killAt, actions: all, from });
  const run = spawn(process.execPath, [...script, argument], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  });
  let text = "";
  let told = "";
  run.stdout.on("data", (chunk: Buffer) => {
    told += chunk.toString();
  });
  run.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    run.on("close", (...end) => resolve(end)),
  );
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The child failed (${code}): ${text}`);
  return Number(told);
}

async function newHome(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "sessarc-test-"));
  for (const one of NAMES)
    await plant(home, ".gemini/skills", one, { "run.sh": ["#!/bin/sh\n", 0o755], [`${one}.md`]: one });
  return home;
}

it("a copy that is brought up to date stands, old or new, whenever the process is killed", async () => {
  const copy: Action = { do: "copy", name: "one", tool: "codex" };
  const all: Action[] = [{ do: "import", name: "one" }, copy, { do: "edit", name: "one", text: "new" }, copy];
  const whole = await newHome();
  const last = all.length - 1;
  const steps = await runChild(whole, 1e9, all, last);
  expect(await readdir(toPlace(whole, "codex", "one"))).toContain("note.txt");
  const kills = Array.from({ length: steps }, (_, n) => n + 1);
  const tried = LONG ? kills : kills.filter((_, n) => n % 16 === 7);
  expect(tried.length).toBeGreaterThan(1);
  for (const killAt of tried) {
    const home = await newHome();
    await runChild(home, killAt, all, last);
    const t = await skillKernel({ home });
    await t.kernel.inject("skills").list();
    expect(await readdir(toPlace(home, "codex", "one")), `killed before step ${killAt}`).toContain("SKILL.md");
    expect((await t.kernel.inject("skills").get("one")).links).toContainEqual(
      expect.objectContaining({ tool: "codex", mode: "copy", state: "linked" }),
    );
    await checkWhole(t);
    await takeAllAway(t);
    await t.close();
    rmSync(home, { recursive: true, force: true });
  }
});

describe("nothing that is not ours is changed or removed", () => {
  it("by random actions among things of others", async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (all) => {
        const home = await newHome();
        const t = await skillKernel({ home });
        try {
          await actWatched(t, all);
          await checkWhole(t);
          const edits = await editsIn(home);
          await takeAllAway(t);
          await checkEdits(home, edits);
        } finally {
          await t.close();
          await rm(home, { recursive: true, force: true });
        }
      }),
      { numRuns: rounds(60, 5), endOnFailure: true },
    );
  });

  /** In parts, each with sequences and steps of its own. */
  it.each(LONG ? [1, 2, 3, 4] : [1])("when the process is killed between any two steps (%i)", async () => {
    await fc.assert(
      fc.asyncProperty(
        actions,
        fc.integer({ min: 1, max: 130 }),
        fc.array(fc.tuple(name, tool, thing), { maxLength: 2 }),
        async (all, killAt, planted) => {
          const home = await newHome();
          try {
            const originals = await Promise.all(NAMES.map((one) => picture(toOriginal(home, one))));
            await runChild(home, killAt, all);
            // Others do not wait until sessarc has started again.
            for (const [one, of, what] of planted) {
              const path = toPlace(home, of, one);
              if (!lstatSync(path, { throwIfNoEntry: false })) plantThing(path, what, home);
            }
            const before = await outside(home);
            const edits = await editsIn(home);
            const t = await skillKernel({ home });
            await t.kernel.inject("skills").list();
            const after = await outside(home);
            const stages = Object.keys(before).filter((path) => path.includes(".sessarc-"));
            for (const [path, was] of Object.entries(before)) {
              if (stages.includes(path) || after[path] === was) continue;
              // Gone is only what a crash left half removed, and that was ours: it is below a place of a link.
              expect([path, was.startsWith("folder") || isPlace(home, path)]).toEqual([path, true]);
              expect(was).not.toMatch(new RegExp(`^file \\d+ ${Buffer.from("mine").toString("base64")}$`));
            }
            await checkWhole(t);
            await checkEdits(home, edits);
            expect(await Promise.all(NAMES.map((one) => picture(toOriginal(home, one))))).toEqual(originals);
            await actWatched(
              t,
              all.filter((one) => one.do !== "plant"),
            );
            await takeAllAway(t);
            await t.close();
          } finally {
            rmSync(home, { recursive: true, force: true });
          }
        },
      ),
      // Each try takes a process: what failed is reported as it is.
      { numRuns: rounds(24, 5), endOnFailure: true },
    );
  });
});

const isPlace = (home: string, path: string) =>
  NAMES.some((one) => TOOLS.some((of) => join(home, path).startsWith(toPlace(home, of, one))));

/** After all is unlinked and deleted, what is left around is of others, and the folders are empty else. */
async function takeAllAway(t: TestKernel): Promise<void> {
  const links = await ours(t);
  const before = await outside(t.home);
  for (const one of NAMES) await act(t.kernel, { do: "delete-files", name: one });
  const after = await outside(t.home);
  const foreign = Object.entries(before).filter(
    ([path, was]) => !was.startsWith("folder") && !isOurs(links, t.home, path),
  );
  expect(Object.entries(after).filter(([, is]) => !is.startsWith("folder"))).toEqual(foreign);
  for (const of of TOOLS) {
    const root = join(toPlace(t.home, of, "one"), "..");
    if (!lstatSync(root, { throwIfNoEntry: false })) continue;
    for (const entry of readdirSync(root)) expect(NAMES).toContain(entry);
  }
}
