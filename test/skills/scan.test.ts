/** Random trees of skills and a model that knows the class of each entry from how it was made, not from the disk. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scan } from "../../plugins/index.ts";
import { createInspector } from "../../plugins/skills/scan/inspect.ts";
import type { SkillRoot } from "../../plugins/skills/scan/roots.ts";
import { type Stored, scanSkills } from "../../plugins/skills/scan/scan.ts";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { importSkill, plant, skillKernel, skillText, toStore, writeTree } from "./world.ts";

const NAMES = ["alpha", "Alpha", "beta", "beta-two", "Beta Two", "gamma", "日本", "delta"] as const;

/** One entry as it is made. `name` is that of the frontmatter, `body` tells contents apart. */
type Made =
  | {
      kind: "valid";
      name: string;
      body: number;
      style: "lf" | "crlf" | "bom" | "list";
      extra: "none" | "exec" | "link" | "fifo" | "git";
    }
  | { kind: "broken"; how: keyof typeof BROKEN; body: number }
  | { kind: "dangling" }
  | { kind: "loop" }
  | { kind: "file-link" }
  | { kind: "alias"; of: number }
  | { kind: "into-store"; skill: number };

/** Ways to be no skill: what is written, and the reason. */
const BROKEN = {
  empty: { text: undefined, reason: "no-skill-file" },
  lower: { text: undefined, file: "skill.md", reason: "no-skill-file" },
  noFrontmatter: { text: "# Title\n", reason: "frontmatter" },
  unclosed: { text: "---\nname: a\ndescription: b\n", reason: "frontmatter" },
  noDescription: { text: "---\nname: a\n---\n", reason: "frontmatter" },
  tab: { text: "---\nname: a\n\tdescription: b\n---\n", reason: "frontmatter" },
  tag: { text: "---\nname: a\ndescription: !!js/function 'x'\n---\n", reason: "frontmatter" },
  alias: { text: "---\nname: &n a\ndescription: *n\n---\n", reason: "frontmatter" },
  twice: { text: "---\nname: a\ndescription: b\nname: c\n---\n", reason: "frontmatter" },
  huge: { text: `---\nname: a\ndescription: b\n---\n${"x".repeat(2 ** 20)}`, reason: "too-large" },
  outside: { text: skillText("out"), link: "/etc/hostname", reason: "leaves-root" },
  up: { text: skillText("up"), link: "../../..", reason: "leaves-root" },
  nowhere: { text: skillText("gone"), link: "nothing", reason: "leaves-root" },
  deep: { text: skillText("deep"), folder: "d/".repeat(17), reason: "too-large" },
} as const satisfies Record<
  string,
  { text: string | undefined; reason: string; file?: string; link?: string; folder?: string }
>;

const made: fc.Arbitrary<Made> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("valid" as const),
      name: fc.constantFrom(...NAMES),
      body: fc.nat(2),
      style: fc.constantFrom("lf" as const, "crlf" as const, "bom" as const, "list" as const),
      extra: fc.constantFrom("none" as const, "exec" as const, "link" as const, "fifo" as const, "git" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("broken" as const),
      how: fc.constantFrom(...(Object.keys(BROKEN) as (keyof typeof BROKEN)[])),
      body: fc.nat(2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("dangling" as const, "loop" as const, "file-link" as const) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("alias" as const), of: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("into-store" as const), skill: fc.nat(1) }) },
);

/** Root and entry of each place; the order in a root is that of the names. */
const world = fc.array(fc.array(made, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
type World = Made[][];

const ROOTS = ["claude/skills", "agents/skills", "cursor/skills", "project/.gemini/skills"];
const toPath = (base: string, root: number, entry: number) => join(base, ROOTS[root] ?? "", `e${entry}`);

/** What is in the store from the beginning: two skills. */
const STORED = [
  { id: "beta-two", name: "beta-two", text: skillText("beta-two", "stored 0") },
  { id: "stored", name: "stored", text: skillText("stored", "stored 1") },
] as const;

const toText = ({ name, body, style }: Extract<Made, { kind: "valid" }>): string => {
  const text = skillText(JSON.stringify(name), `body ${body}`, style === "list" ? "metadata:\n  - x\n" : "");
  return style === "crlf" ? text.replaceAll("\n", "\r\n") : style === "bom" ? `\uFEFF${text}` : text;
};

/** The place an alias leads to: an earlier one that is a folder, if there is one. */
function findTarget(world: World, root: number, entry: number, of: number): [number, number] | undefined {
  const folders = world.flatMap((entries, r) =>
    entries.flatMap((one, e): [number, number][] => (one.kind === "valid" || one.kind === "broken" ? [[r, e]] : [])),
  );
  return folders.length === 0 || (root < 0 && entry < 0) ? undefined : folders[of % folders.length];
}

async function build(base: string, world: World): Promise<void> {
  for (const { id, text } of STORED) await writeTree(join(base, "store", id), { "SKILL.md": text });
  for (const [r, entries] of world.entries()) {
    await mkdir(join(base, ROOTS[r] ?? ""), { recursive: true });
    for (const [e, one] of entries.entries()) await buildOne(base, world, r, e, one);
    // What is no entry: files, and hidden folders.
    await writeTree(join(base, ROOTS[r] ?? ""), { "README.md": "x", ".system/own/SKILL.md": skillText("own") });
  }
}

async function buildOne(base: string, world: World, r: number, e: number, one: Made): Promise<void> {
  const path = toPath(base, r, e);
  if (one.kind === "dangling") return symlink(join(base, "none"), path);
  if (one.kind === "loop") return symlink(path, path);
  if (one.kind === "file-link") return symlink(join(base, "store", STORED[0].id, "SKILL.md"), path);
  if (one.kind === "into-store") return symlink(join(base, "store", STORED[one.skill]?.id ?? ""), path);
  if (one.kind === "alias") {
    const target = findTarget(world, r, e, one.of);
    return symlink(target ? toPath(base, ...target) : join(base, "none"), path);
  }
  await mkdir(path, { recursive: true });
  if (one.kind === "broken") return buildBroken(path, one.how);
  await writeFile(join(path, "SKILL.md"), toText(one));
  if (one.extra === "exec") {
    await writeFile(join(path, "run"), "same");
    await chmod(join(path, "run"), 0o755);
  }
  if (one.extra === "link") await symlink("SKILL.md", join(path, "link"));
  if (one.extra === "fifo") execFileSync("mkfifo", [join(path, "pipe")]);
  if (one.extra === "git") await writeTree(join(path, ".git"), { HEAD: `${r} ${e}` });
}

async function buildBroken(path: string, kind: keyof typeof BROKEN): Promise<void> {
  const how: { text: string | undefined; file?: string; link?: string; folder?: string } = BROKEN[kind];
  if (how.text !== undefined) await writeFile(join(path, "SKILL.md"), how.text);
  if (how.file) await writeFile(join(path, how.file), skillText("x"));
  if (how.link) await symlink(how.link, join(path, "link"));
  if (how.folder) await mkdir(join(path, how.folder), { recursive: true });
}

interface Expected {
  path: string;
  class: string;
  reason: string | null;
  duplicateOf: string | null;
  aliases: string[];
}

/** What makes two folders the same content: text and what else counts (a pipe and `.git` do not). */
const toContent = (one: Extract<Made, { kind: "valid" }>) =>
  `${toText(one)}|${one.extra === "exec" || one.extra === "link" ? one.extra : ""}`;
/** One name for a person: case, blanks and hyphens are nothing. */
const toName = (name: string) => name.toLowerCase().replaceAll(" ", "-");

function model(base: string, world: World): Expected[] {
  const answer: Expected[] = [];
  const byFolder = new Map<string, Expected>();
  const contents = new Map<string, string>(STORED.map(({ id, text }) => [`${text}|`, id]));
  const names = new Map<string, string>(STORED.map(({ id, name }) => [name, id]));
  const add = (folder: string, path: string, classify: () => Omit<Expected, "path" | "aliases">) => {
    const first = byFolder.get(folder);
    if (first) return void first.aliases.push(path);
    const entry = { path, aliases: [], ...classify() };
    byFolder.set(folder, entry);
    answer.push(entry);
  };
  const broken = (reason: string) => ({ class: "broken", reason, duplicateOf: null });
  const ofFolder = (one: Made) => {
    if (one.kind === "broken") return broken(BROKEN[one.how].reason);
    if (one.kind !== "valid") throw new Error(one.kind);
    const known = contents.get(toContent(one));
    if (known !== undefined) return { class: "duplicate", reason: "same-content", duplicateOf: known };
    const named = names.get(toName(one.name));
    if (named !== undefined) return { class: "duplicate", reason: "same-name", duplicateOf: named };
    return { class: "importable", reason: null, duplicateOf: null };
  };
  const remember = (one: Made, entry: Expected | undefined) => {
    if (one.kind !== "valid" || entry?.class !== "importable") return;
    contents.set(toContent(one), entry.path);
    names.set(toName(one.name), entry.path);
  };
  for (const [r, entries] of world.entries()) {
    for (const [e, one] of entries.entries()) {
      const path = toPath(base, r, e);
      if (one.kind === "dangling" || one.kind === "loop" || one.kind === "file-link") {
        const reason = { dangling: "dangling-link", loop: "looping-link", "file-link": "not-a-folder" }[one.kind];
        answer.push({ path, aliases: [], ...broken(reason) });
      } else if (one.kind === "into-store") {
        add(`store ${one.skill}`, path, () => ({ class: "managed", reason: "linked-elsewhere", duplicateOf: null }));
      } else {
        const target = one.kind === "alias" ? findTarget(world, r, e, one.of) : ([r, e] as const);
        if (!target) {
          answer.push({ path, aliases: [], ...broken("dangling-link") });
          continue;
        }
        const folder = world[target[0]]?.[target[1]] as Made;
        const key = toPath(base, target[0], target[1]);
        const isNew = !byFolder.has(key);
        add(key, path, () => ofFolder(folder));
        if (isNew) remember(folder, byFolder.get(key));
      }
    }
  }
  return answer;
}

describe("classes of the scan", () => {
  it.each([1, 2, 3, 4])("agree with the model for every entry of random trees (%i)", async () => {
    const inspector = await createInspector();
    const home = await makeTempDir();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(world, async (entries) => {
        const base = join(home, String(round++));
        try {
          await build(base, entries);
          const roots = ROOTS.slice(0, entries.length).map(
            (path): SkillRoot => ({ path: join(base, path), scope: "user", tools: ["tool"], project: null }),
          );
          const { skills } = await scanSkills(
            [{ path: join(base, "store"), scope: "user", tools: [], project: null }],
            none,
            inspector,
          ).then(({ entries: all }) => ({
            skills: new Map(all.map((one) => [one.name, { name: one.name, contentHash: one.contentHash ?? "" }])),
          }));
          const stored: Stored = { ...none, folder: join(base, "store"), skills };
          const scan = await scanSkills(roots, stored, inspector);
          const seen = scan.entries.map((one) => ({
            ...{ path: one.path, class: one.class, reason: one.reason, duplicateOf: one.duplicateOf },
            aliases: one.aliases.map((alias) => alias.path),
          }));
          expect(seen).toEqual(model(base, entries));
          for (const one of scan.entries) if (one.reason === "frontmatter") expect(one.line).toBeGreaterThan(0);
        } finally {
          await rm(base, { recursive: true, force: true });
        }
      }),
      { numRuns: rounds(250) },
    );
  });
});

const none: Stored = { folder: "/nowhere", skills: new Map(), copies: new Map(), links: new Map() };

describe("a scan of many skills", () => {
  let t: TestKernel;
  beforeAll(async () => {
    t = await skillKernel();
    const roots = [
      ".claude/skills",
      ".agents/skills",
      ".cursor/skills",
      ".config/opencode/skills",
      ".gemini/skills",
      ".copilot/skills",
    ];
    for (const [i, root] of roots.entries())
      for (let n = 0; n < 10; n++) await plant(t.home, root, `skill-${i}-${n}`, { "a.md": `${i} ${n}` });
  });
  afterAll(() => t.close());

  it("reads each folder once, and none again while nothing changes", async () => {
    const inspector = await createInspector();
    const roots = [...t.kernel.registry.adapters.values()].flatMap((adapter) =>
      (adapter.skills?.dirs(t.kernel.env) ?? []).filter((dir) => dir.scope === "user"),
    );
    const places = [...new Set(roots.map((dir) => dir.path))].map(
      (path): SkillRoot => ({ path, scope: "user", tools: ["x"], project: null }),
    );
    // A folder that changed a moment ago is not trusted to be at rest, and read again.
    const first = await scanSkills(places, none, inspector);
    expect([first.entries.length, inspector.reads]).toEqual([60, 60]);
    const readAgain = async () => {
      const before = inspector.reads;
      const scan = await scanSkills(places, none, inspector);
      return { scan, reads: inspector.reads - before };
    };
    await expect.poll(async () => (await readAgain()).reads).toBe(0);
    await writeFile(join(t.home, ".claude/skills/skill-0-3/a.md"), "changed");
    const { scan: third, reads } = await readAgain();
    expect(reads).toBe(1);
    expect(
      third.entries.filter((one, i) => one.contentHash !== first.entries[i]?.contentHash).map((one) => one.name),
    ).toEqual(["skill-0-3"]);
  });

  it("lets others in while it runs", async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const before = turns;
    const { entries } = await t.json<Scan>("/api/skills/scan");
    running = false;
    expect(entries).toHaveLength(60);
    expect(turns - before).toBeGreaterThan(1);
  });

  it("20 imports of one skill at once make one skill, 20 links of it one link", async () => {
    const path = join(t.home, ".claude/skills/skill-0-0");
    const imports = await Promise.all(Array.from({ length: 20 }, () => t.send("POST", "/api/skills/import", { path })));
    expect(imports.map((one) => one.status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    const { skills } = await t.json<{ skills: { id: string }[] }>("/api/skills");
    expect(skills.map((skill) => skill.id)).toEqual(["skill-0-0"]);
    const { snapshots } = await t.json<{ snapshots: unknown[] }>("/api/skills/skill-0-0/snapshots");
    expect(snapshots).toHaveLength(1);
    const links = await Promise.all(
      Array.from({ length: 20 }, () => t.send("POST", "/api/skills/skill-0-0/link", { tool: "codex" })),
    );
    expect(links.map((one) => one.status)).toEqual(Array(20).fill(200));
    const unlinks = await Promise.all(
      Array.from({ length: 20 }, () => t.send("POST", "/api/skills/skill-0-0/unlink", { tool: "codex" })),
    );
    expect(unlinks.map((one) => one.status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
    expect(await importSkill(t, join(t.home, ".claude/skills/skill-0-1"))).toMatchObject({ id: "skill-0-1" });
    await rm(toStore(t.home, "skill-0-1"), { recursive: true });
  });
});
