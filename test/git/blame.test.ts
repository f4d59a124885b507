/** Blame of a file with a long history, and its patches, equal plain git: two processes share them. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeGit, openGit, T0, tempFolder, testEnv } from "./_repo.ts";

const COMMITS = 700;

interface World {
  /** The file has another name in the older part. */
  renamed: boolean;
  /** Side branches, which are merged soon or late. */
  merges: boolean;
}

/** A history of one file; answers the folder. All follows from the seed. */
function makeHistory(seed: number, { renamed, merges }: World): string {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const root = join(tempFolder(), "repo");
  mkdirSync(root);
  const run = (args: string[], input?: string) => execFileSync("git", args, { cwd: root, env: testEnv(), input });
  run(["init", "-q", "-b", "main", "--template="]);
  const stream: string[] = [];
  let mark = 0;
  let name = renamed ? "src/old.ts" : "src/a.ts";
  const commit = (lines: readonly string[], from: readonly number[], removed = "") => {
    const text = lines.map((line) => `${line}\n`).join("");
    stream.push(
      `commit refs/heads/main\nmark :${++mark}\ncommitter a <a@x> ${T0 + mark * 60} +0000\ndata 1\nc\n`,
      ...from.map((parent, i) => `${i === 0 ? "from" : "merge"} :${parent}\n`),
      removed,
      `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
    );
    return mark;
  };
  const changed = (lines: readonly string[], from: number, to: number): string[] => {
    const at = from + below(Math.max(1, to - from));
    const fresh = Array.from({ length: 1 + below(3) }, (_, i) => `line ${mark} ${i}`);
    const kind = below(4);
    if (kind === 0 && lines.length > 20) return lines.toSpliced(at, 1, ...fresh);
    if (kind === 1) return lines.with(at, `  ${lines[at]}`);
    return lines.toSpliced(at, 0, ...fresh);
  };
  let lines = Array.from({ length: 30 }, (_, i) => `first ${i}`);
  let tip = commit(lines, []);
  /** A branch that changes the first lines alone, while main changes those after them. */
  let side: { tip: number; head: string[]; length: number } | undefined;
  for (let n = 1; n < COMMITS; n++) {
    if (renamed && n === 60) {
      const removed = `D ${name}\n`;
      name = "src/a.ts";
      tip = commit(lines, [tip], removed);
    } else if (merges && side && below(50) === 0) {
      lines = [...side.head, ...lines.slice(side.length)];
      tip = commit(lines, [tip, side.tip]);
      side = undefined;
    } else if (merges && side && below(3) === 0) {
      side.head = changed(side.head, 0, side.head.length);
      side.tip = commit([...side.head, ...lines.slice(side.length)], [side.tip]);
    } else if (merges && !side && below(40) === 0) side = { tip, head: lines.slice(0, 10), length: 10 };
    else {
      lines = changed(lines, 12, lines.length);
      tip = commit(lines, [tip]);
    }
  }
  stream.push(`reset refs/heads/main\nfrom :${tip}\n`);
  run(["fast-import", "--quiet", "--force"], stream.join(""));
  return root;
}

const worlds = [1, 2, 3].flatMap((seed) =>
  [false, true].flatMap((renamed) => [false, true].map((merges) => ({ seed, renamed, merges }))),
);

describeGit("blame of a long history", () => {
  it.each(worlds)("equals plain git: %o", async ({ seed, ...world }) => {
    const root = makeHistory(seed, world);
    const plain = execFileSync("git", ["blame", "-w", "--porcelain", "HEAD", "--", "src/a.ts"], {
      cwd: root,
      env: testEnv(),
      encoding: "utf8",
    });
    const lines: string[] = [];
    const headers = new Map<string, string[]>();
    let [hash, original] = ["", ""];
    for (const row of plain.trimEnd().split("\n")) {
      if (row.startsWith("\t")) lines.push(`${hash} ${original} ${row.slice(1)}`);
      else if (/^[0-9a-f]{40} /.test(row)) {
        [hash = "", original = ""] = row.split(" ");
        if (!headers.has(hash)) headers.set(hash, []);
      } else if (!row.startsWith("filename ")) headers.get(hash)?.push(row);
    }
    const { file } = await openGit().blameAt(root, undefined, "src/a.ts");
    expect(file?.lines.map(({ commit, original, text }) => `${commit} ${original} ${text}`)).toEqual(lines);
    expect(file?.headers).toEqual(headers);
    expect(new Set(file?.commits.keys())).toEqual(new Set(headers.keys()));
    expect(headers.size).toBeGreaterThan(50);
    expect(file?.names).toEqual(world.renamed ? ["src/a.ts", "src/old.ts"] : ["src/a.ts"]);
  });

  it.each(worlds)("has the patches that plain git has: %o", async ({ seed, ...world }) => {
    const root = makeHistory(seed, world);
    const run = (...args: string[]) =>
      execFileSync("git", args, { cwd: root, env: testEnv(), encoding: "utf8" }).trim();
    const head = run("rev-parse", "HEAD");
    const since = new Date((T0 + 40 * 60) * 1_000).toISOString();
    const expected = run("log", "--no-merges", "-w", "-M", "--numstat", `--since=${since}`, "--format=%x01%H")
      .split("\x01")
      .filter(Boolean)
      .map((text) => {
        const [hash, added = "0", removed = "0"] = text.trim().split(/\s+/);
        return `${hash} +${added} -${removed}`;
      });
    const patches = await openGit().patches(root, { commits: [head], since, wants: () => true });
    const found = patches.map(({ hash, files: [file] }) => `${hash} +${file?.added ?? 0} -${file?.removed ?? 0}`);
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(found.length).toBeGreaterThan(500);
    // After its parents.
    const place = new Map(patches.map(({ hash }, i) => [hash, i]));
    for (const row of run("log", "--format=%H %P").split("\n")) {
      const [hash = "", ...parents] = row.split(" ");
      for (const parent of parents)
        if (place.has(hash)) expect(place.get(parent) ?? -1).toBeLessThan(place.get(hash) ?? 0);
    }
  });
});
