/** Random histories of files: what is recovered is the truth, or a declared hole. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import git from "../../plugins/git/index.ts";
import replay from "../../plugins/replay/index.ts";
import security from "../../plugins/security/index.ts";
import undelete, { type FileAtVersion, type FileHistory, type VersionView } from "../../plugins/undelete/index.ts";
import { describeGit } from "../git/_repo.ts";
import { LONG } from "../rounds.ts";
import { type Moment, makeHistory } from "./_history.ts";

/** `SESSARC_UNDELETE_HISTORIES=200`, and from which seed: `SESSARC_UNDELETE_FIRST=151`. */
const ROUNDS = Number(process.env.SESSARC_UNDELETE_HISTORIES ?? (LONG ? 200 : 25));

interface Score {
  versions: number;
  exact: number;
  knowable: number;
  recovered: number;
}

/** Lines with their numbers that a version says it knows. Throws where one is not the truth. */
function check(version: FileAtVersion, truth: string): number {
  const wanted = truth.split("\n");
  const where = `${version.path} ${version.id} ${version.source} ${version.state}`;
  if (version.isAssumed) {
    const { from, to } = version.seen ?? { from: null, to: null };
    if (from === null || to === null) return 0;
    const lines = (version.text ?? "").split("\n");
    const part = wanted.slice(from - 1, to).join("\n");
    expect(lines.join("\n"), where).toContain(part);
    return to - from + 1;
  }
  if (version.state === "exact") {
    expect(version.text, where).toBe(truth);
    return wanted.length;
  }
  const exactTo = /^exact to line (\d+)$/.exec(version.state)?.[1];
  const lines = (version.text ?? "").split("\n");
  if (exactTo !== undefined) {
    const count = Number(exactTo);
    expect(lines.slice(0, count), where).toEqual(wanted.slice(0, count));
    return count;
  }
  // Parts between the marks, in their order; a part whose place is known is at that place.
  let at = 0;
  let hole = 0;
  let line: number | null = 1;
  let recovered = 0;
  for (const part of (version.text ?? "").split(/^\[sessarc: .*\]\n/m)) {
    if (part !== "") {
      const body = part.endsWith("\n") && hole < version.holes.length ? part.slice(0, -1) : part;
      if (line !== null) {
        const rows = body.split("\n");
        const isLast = hole === version.holes.length;
        expect(rows, where).toEqual(wanted.slice(line - 1, isLast ? undefined : line - 1 + rows.length));
        line += rows.length;
        recovered += rows.length;
      } else {
        const found = truth.indexOf(body, at);
        expect(found, `${where}: ${JSON.stringify(body)} in ${JSON.stringify(truth)}`).toBeGreaterThanOrEqual(0);
        at = found + body.length;
        recovered += body.split("\n").length;
      }
    }
    const range = version.holes[hole++];
    if (range) line = range.to === null ? null : range.to + 1;
  }
  return recovered;
}

async function score(seed: number, into: Score): Promise<void> {
  const logsStay = seed % 5 !== 4;
  const history = makeHistory(seed, logsStay);
  const t = await createTestKernel({
    home: history.home,
    plugins: [archive(), git(), claude(), replay(), security(), undelete()],
  });
  await t.send("POST", "/api/import", { all: true });
  if (!logsStay) rmSync(join(history.home, ".claude/projects"), { recursive: true });
  const left: Moment[] = [...history.moments];
  for (const path of new Set(history.moments.map((one) => one.path))) {
    const { versions } = await t.json<FileHistory>(`/api/files/history?${new URLSearchParams({ path })}`);
    const rows = new Map<string, VersionView>();
    for (const version of versions)
      if (version.source !== "gone" && version.source !== "move") rows.set(`${version.at} ${version.source}`, version);
    for (const row of rows.values()) {
      const version = await t.json<FileAtVersion>(`/api/files/at?${new URLSearchParams({ path, at: row.id })}`);
      const moment = history.moments.find((one) => one.path === path && one.at === row.at && one.source === row.source);
      const truth = moment?.truth ?? history.truthAt(path, row.at ?? "");
      expect(truth, `${path} ${row.id} ${row.source} at ${row.at}`).not.toBeNull();
      into.versions++;
      if (version.state === "exact") into.exact++;
      const recovered = check(version, truth ?? "");
      if (!moment) continue;
      left.splice(left.indexOf(moment), 1);
      const knowable = moment.known.filter(Boolean).length;
      into.knowable += knowable;
      into.recovered += Math.min(recovered, knowable);
      if (recovered < knowable) misses.push(`${seed} ${path} ${row.id} ${row.source} ${recovered}/${knowable}`);
    }
  }
  // A commit that changed nothing in a file is no version of it.
  for (const { path, at, source, known } of left)
    if (source !== "commit") {
      into.knowable += known.filter(Boolean).length;
      if (known.some(Boolean)) misses.push(`${seed} ${path} ${at} ${source} is not listed`);
    }
}

const misses: string[] = [];

describeGit("files of random histories", () => {
  it(`are the truth or a declared hole in ${ROUNDS} of them`, async () => {
    const total: Score = { versions: 0, exact: 0, knowable: 0, recovered: 0 };
    const first = Number(process.env.SESSARC_UNDELETE_FIRST ?? 1);
    const invented: string[] = [];
    for (let seed = first; seed < first + ROUNDS; seed++)
      await score(seed, total).catch((error: unknown) => invented.push(`history ${seed}: ${String(error)}`));
    if (process.env.SESSARC_UNDELETE_HISTORIES !== undefined) console.info(total, misses);
    expect(invented).toEqual([]);
    expect(total.versions).toBeGreaterThan(ROUNDS * 10);
    expect(total.exact).toBeGreaterThan(total.versions / 2);
    expect(total.recovered / total.knowable, misses.slice(0, 20).join("\n")).toBeGreaterThanOrEqual(0.98);
  });
});
