/**
 * The contract of an adapter as tests, for adapters of this project and of anybody else's.
 *
 *     describe("adapters: echo", () => testAdapter({ plugin: (dir) => echo({ dir }), fixtures, expect: { sessions: 1 } }));
 *
 * Every check works on its own copy of the fixtures. Checks that make no sense for an adapter (line logs, live reading)
 * are skipped with a word why.
 */
import type { Plugin } from "sessarc";
import { it, type TestContext } from "vitest";
import { type Bench, withBench } from "./adapter/bench.ts";
import * as damage from "./adapter/damage.ts";
import { guardWorks } from "./adapter/guard.ts";
import * as shape from "./adapter/shape.ts";
import * as tail from "./adapter/tail.ts";

export type { Bench as AdapterBench, Reading } from "./adapter/bench.ts";

export interface AdapterSuite {
  /** Makes the plugin so that it reads below `dir` and nowhere else. */
  plugin: (dir: string) => Plugin;
  /** A folder laid out as the tool's own. */
  fixtures: string;
  expect?: shape.Expectation;
  /** MB of the log that memory is measured with; false leaves the check out. Default 16. */
  memory?: number | false;
  /** Further tests; `check` runs one on a copy of its own. */
  additionalTests?: (
    check: (name: string, work: (bench: Bench, context: TestContext) => Promise<void>) => void,
  ) => void;
}

export function testAdapter(suite: AdapterSuite): void {
  const expected = suite.expect ?? {};
  const check = (name: string, work: (bench: Bench, context: TestContext) => Promise<void>) =>
    it(name, (context) => withBench(suite, (bench) => work(bench, context)), 60_000);

  check("finds every session of the fixtures", (bench) => shape.findsAll(bench, expected));
  check("D3: keys are unique, and equal over two scans", shape.keysAreStable);
  check("a root that is missing or no folder yields nothing", shape.missingRoots);
  check("looks below the given folder only", shape.rootsAreInside);
  check("reads a folder that is added for it", shape.readsAddedFolders);
  check("links do not lead out of the root, nor round in it", shape.linksStayInside);
  check("events have one of six kinds, seq 0…n−1, ISO times", (bench) => shape.eventsAreWellFormed(bench, expected));
  check("summaries have whole counts and times in order", (bench) => shape.summariesAreWellFormed(bench, expected));
  check("reading twice gives equal values", shape.readsTheSameTwice);
  check("readMany gives what read gives", shape.manyEqualsRead);
  check("peek agrees with read", shape.peekAgrees);
  check("no byte of the source changes", shape.sourceIsUntouched);

  check("a half-written last line changes nothing", damage.halfLastLine);
  check("lines that are no rows are left out", damage.junkLines);
  check("rows of unknown types do not throw", damage.unknownRows);
  check("a BOM, CRLF and blank lines change nothing", damage.byteOrderMarks);
  check("an empty log is an empty session", damage.emptyFiles);
  check("a log cut anywhere can be read", damage.cutAnywhere);
  check("a line of 12 MB changes nothing", damage.hugeLine);
  if (suite.memory !== false) {
    const size = suite.memory ?? 16;
    check(`memory stays flat over ${size} MB`, (bench, context) => damage.memoryStaysFlat(bench, context, size));
  }

  check("tail gives what read gives, then nothing", tail.tailEqualsRead);
  check("D14: tail at every line adds up to a full read", tail.tailAtEveryLine);
  check("D14: tail inside lines adds up to a full read", tail.tailInsideLines);
  check("tail starts again when the log was cut or replaced", tail.tailSeesReplacement);
  check("tail reads what is new, not the log", tail.tailReadsOnlyWhatIsNew);

  check(
    "a declared guard is installed, answers in its form, fails as chosen and goes byte for byte",
    (bench, context) => guardWorks(bench, context, suite.plugin(bench.dir)),
  );

  suite.additionalTests?.(check);
}
