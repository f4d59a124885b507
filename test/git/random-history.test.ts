import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Git } from "../../plugins/git/index.ts";
import { rounds } from "../rounds.ts";
import { history, importHistory, plainChanges, plainLastChange, plainTree } from "./_history.ts";
import { describeGit, iso, openGit, type Repo, remembering, T0, tempFolder } from "./_repo.ts";

const show = (bytes: string) => Buffer.from(bytes, "latin1").toString("utf8");

describeGit("history equals plain git", () => {
  it("in random histories: merges, octopuses, several roots, renames, deletions, modes, odd names, equal and skewed times", async () => {
    let lookups = 0;
    const seen = { merges: 0, octopuses: 0, joinedRoots: 0, sameSecond: 0 };
    const git = openGit({ maxProcesses: 2 });
    const shape = fc.record({
      format: fc.oneof(
        { weight: 4, arbitrary: fc.constant("sha1" as const) },
        { weight: 1, arbitrary: fc.constant("sha256" as const) },
      ),
      packed: fc.boolean(),
      detached: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(history, shape, fc.infiniteStream(fc.nat()), async (commits, { detached, ...how }, random) => {
        const next = () => random.next().value ?? 0;
        const pick = <T>(items: readonly T[]): T | undefined => items[next() % items.length];
        const repo = importHistory(commits, join(tempFolder(), "repo.git"), how);
        const all = repo.git("rev-list", "--all").split("\n");
        if (detached) repo.git("update-ref", "--no-deref", "HEAD", pick(all) ?? "");
        // Nothing changes in it any more.
        const plain = remembering(repo);
        const rows = plain
          .git("log", "--format=%ct %P", "HEAD")
          .split("\n")
          .map((row) => row.split(" "));
        const parents = rows.map(([, ...hashes]) => hashes.filter(Boolean).length);
        seen.merges += parents.filter((count) => count > 1).length;
        seen.octopuses += parents.filter((count) => count > 2).length;
        seen.joinedRoots += Math.max(0, parents.filter((count) => count === 0).length - 1);
        seen.sameSecond += rows.length - new Set(rows.map(([time]) => time)).size;
        // Around the commits' own seconds, and anywhere else.
        const times = rows.map(([time]) => Number(time) - T0);
        const offset = () => (next() % 2 ? (next() % 200_000) - 100_000 : (pick(times) ?? 0) + (next() % 3) - 1);
        lookups += await compareTimes(git, plain, offset);
        for (let i = 0; i < 3; i++) {
          const commit = pick(all) ?? "";
          lookups += await compareTree(git, plain, commit);
          const paths = [...plainTree(plain, commit).keys()];
          for (let n = 0; n < 4; n++) {
            const path = pick(paths);
            if (path !== undefined) lookups += await compareFile(git, plain, commit, path);
          }
        }
      }),
      { numRuns: rounds(32, 6), seed: 20261121, endOnFailure: true },
    );
    expect(lookups).toBeGreaterThanOrEqual(rounds(32, 6) * 15);
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  });
});

async function compareTimes(git: Git, repo: Repo, offset: () => number): Promise<number> {
  for (let i = 0; i < 4; i++) {
    const seconds = T0 + offset();
    const plain = repo.git("rev-list", "-1", `--before=${iso(seconds)}`, "HEAD");
    const answer = await git.commitAt(repo.root, iso(seconds, 900));
    expect(answer.beforeHistory).toBe(plain === "");
    if (answer.commit === null) continue;
    const { hash } = answer.commit;
    if (hash !== plain) {
      // Of one second git may list a parent before its child: the child is the newer one.
      expect([...answer.others.map((one) => one.hash), hash]).toContain(plain);
      expect(repo.git("log", "-1", "--format=%ct", hash)).toBe(String(seconds));
      repo.git("merge-base", "--is-ancestor", plain, hash);
    }
    const [at, author, parents, subject] = repo.git("log", "-1", "--format=%cI%n%an%n%P%n%s", hash).split("\n");
    expect(answer.commit).toEqual({
      hash,
      parents: parents === "" ? [] : parents?.split(" "),
      author,
      at: new Date(at ?? "").toISOString(),
      subject,
    });
  }
  return 4;
}

async function compareTree(git: Git, repo: Repo, commit: string): Promise<number> {
  const tree = await git.treeAt(repo.root, commit.slice(0, 12));
  const plain = [...plainTree(repo, commit)];
  expect(tree.commit).toBe(commit);
  expect(tree.files.map(({ path, mode, size }) => ({ path, mode, size }))).toEqual(
    plain.map(([path, { mode, size }]) => ({ path: show(path), mode, size })),
  );
  const changes = plainChanges(repo, findParent(repo, commit), commit);
  expect(tree.changed.map(({ pathBytes: _, ...change }) => change)).toEqual(
    changes.map(({ path, status, from }) => ({ path: show(path), status, ...(from && { previousPath: show(from) }) })),
  );
  return 1;
}

async function compareFile(git: Git, repo: Repo, commit: string, path: string): Promise<number> {
  const answer = await git.fileAt(repo.root, commit, Buffer.from(path, "latin1"));
  const here = plainChanges(repo, findParent(repo, commit), commit).find((change) => change.path === path);
  const last = here ? commit : plainLastChange(repo, commit, path);
  const origin = here ?? plainChanges(repo, findParent(repo, last), last).find((change) => change.path === path);
  const before = origin?.status === "added" ? undefined : findParent(repo, last);
  const previousPath = before && (origin?.from ?? path);
  const now = content(repo, commit, path);
  const then = before && previousPath ? content(repo, before, previousPath) : { text: null, binary: false };
  const { pathBytes: _, ...rest } = answer;
  expect(rest).toEqual({
    path: show(path),
    mode: plainTree(repo, commit).get(path)?.mode,
    content: now.text,
    binary: now.binary || then.binary,
    tooLarge: false,
    previous: then.text,
    previousPath: previousPath ? show(previousPath) : null,
    previousCommit: before ?? null,
    lastCommit: last,
    status: here?.status ?? "unchanged",
  });
  return 1;
}

function content(repo: Repo, commit: string, path: string): { text: string | null; binary: boolean } {
  const file = plainTree(repo, commit).get(path);
  if (!file || file.mode === "160000") return { text: null, binary: false };
  const data = repo.gitBytes("cat-file", "blob", file.hash);
  return data.includes(0) ? { text: null, binary: true } : { text: data.toString("utf8"), binary: false };
}

function findParent(repo: Repo, commit: string): string | undefined {
  return repo.git("rev-list", "--parents", "-1", commit).split(" ")[1];
}
