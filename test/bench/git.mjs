// Live status of many repositories, and files of one at a time:
//   node test/bench/git.mjs [repositories = 100]
// Compares with starting one plain `git status` per repository, all at once, on the same machine; the first check ever, which counts commits,
// too, with plain git asked both. Where the process is large, starting any program takes longer: BALLAST=400 holds so many MiB beside.
// Budgets: status within 1.3 times plain git; a warm /git/file 10 ms (median).
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { alias } from "./sources.mjs";

const count = Number(process.argv[2] ?? 100);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const jiti = createJiti(import.meta.url, { alias });
const { createGit } = await jiti.import(here("../../plugins/git/git.ts"));

const root = realpathSync(mkdtempSync(join(tmpdir(), "sessarc-bench-")));
const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@x", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@x" };
const env = { ...process.env, ...identity, GIT_CONFIG_GLOBAL: "/dev/null" };
const run = (cwd, ...args) => execFileSync("git", args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] }).toString();

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const ms = (value) => `${value.toFixed(1)} ms`;

function makeRepository(path, files, commits) {
  mkdirSync(path, { recursive: true });
  run(path, "init", "-q");
  const lines = [];
  for (let c = 1; c <= commits; c++) {
    lines.push(`commit refs/heads/master\ncommitter a <a@x> ${1_700_000_000 + c * 60} +0000\ndata 1\nc`);
    for (let f = 0; f < files; f++) {
      if (c > 1 && f !== c % files) continue;
      const text = `file ${f}\n`.repeat(40) + (c > 1 ? `commit ${c}\n` : "");
      lines.push(`M 100644 inline src/d${f % 10}/f${f}.ts\ndata ${text.length}\n${text}`);
    }
  }
  execFileSync("git", ["fast-import", "--quiet"], { cwd: path, env, input: `${lines.join("\n")}\n` });
  run(path, "reset", "-q", "--hard");
  writeFileSync(join(path, "untracked"), "x");
}

try {
  const paths = Array.from({ length: count }, (_, i) => join(root, `r${i}`));
  for (const path of paths) makeRepository(path, 60, 20);
  const git = createGit();
  const ballast = Buffer.alloc(Number(process.env.BALLAST ?? 0) * 2 ** 20, 1);
  const plain = (cwd, ...args) =>
    new Promise((resolve, reject) => execFile("git", args, { cwd }, (error) => (error ? reject(error) : resolve())));
  const allPlain = () => Promise.all(paths.map((path) => plain(path, "status")));
  const allCounted = () => Promise.all(paths.map((path) => plain(path, "rev-list", "--count", "HEAD")));
  await allPlain();
  const [theirs, ours, plainBeside, bothBeside, cold, started] = [[], [], [], [], [], []];
  const onError = (error) => {
    throw error;
  };
  for (let i = 0; i < 3; i++) {
    plainBeside.push(await timed(allPlain));
    bothBeside.push(plainBeside.at(-1) + (await timed(allCounted)));
    const counts = { path: join(root, `counts${i}.json`), onError };
    // The first has never seen them; the second finds what the first kept, as after a start.
    for (const times of [cold, started]) {
      const fresh = createGit({ counts });
      times.push(await timed(() => fresh.statusMany(paths)));
      await fresh.close();
    }
  }
  await git.statusMany(paths);
  for (let i = 0; i < 9; i++) {
    theirs.push(await timed(allPlain));
    ours.push(await timed(() => git.statusMany(paths)));
  }
  const ratio = median(ours) / median(theirs);
  console.log(
    `status of ${count} repositories: first ever ${ms(median(cold))} (median of 3), ${(median(cold) / median(bothBeside)).toFixed(2)} times plain git asked the same (${ballast.length / 2 ** 20} MiB held)`,
  );
  console.log(
    `after a start: ${ms(median(started))} (median of 3), ${(median(started) / median(plainBeside)).toFixed(2)} times plain git beside it`,
  );
  console.log(`then ${ms(median(ours))} (median of 9)`);
  console.log(`plain git status in parallel: ${ms(median(theirs))}; ratio ${ratio.toFixed(2)} (budget 1.3)`);

  const big = join(root, "big");
  makeRepository(big, 2000, 3000);
  const hashes = run(big, "rev-list", "HEAD").trim().split("\n");
  const pick = (n) => [
    hashes[(n * 7919) % hashes.length],
    `src/d${(n * 31) % 10}/f${(((n * 31) % 10) + n * 10) % 2000}.ts`,
  ];
  await git.fileAt(big, ...pick(0));
  const fresh = [];
  const again = [];
  for (let n = 1; n <= 200; n++) fresh.push(await timed(() => git.fileAt(big, ...pick(n))));
  for (let n = 1; n <= 200; n++) again.push(await timed(() => git.fileAt(big, ...pick(n))));
  console.log(
    `file of 200 commits, each new: median ${ms(median(fresh))}, longest ${ms(Math.max(...fresh))} (budget 10 ms)`,
  );
  const changed = [];
  for (let n = 1; n <= 200; n++) {
    const f = (hashes.length - n) % 2000;
    changed.push(await timed(() => git.fileAt(big, hashes[n], `src/d${f % 10}/f${f}.ts`)));
  }
  console.log(`a file that the commit changed, each new: median ${ms(median(changed))}`);
  console.log(`the same again: median ${ms(median(again))}`);
  const time = (n) => new Date((1_700_000_000 + n * 60) * 1000).toISOString();
  const first = await timed(() => git.commitAt(big, time(1)));
  const at = [];
  for (let n = 1; n <= 200; n++) at.push(await timed(() => git.commitAt(big, time(n * 13))));
  console.log(`commit of a time: first ${ms(first)}, then median ${ms(median(at))}`);
  const tree = await timed(() => git.treeAt(big, hashes[5]));
  console.log(`tree of 2,000 files: first ${ms(tree)}, then ${ms(await timed(() => git.treeAt(big, hashes[5])))}`);
  await git.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
