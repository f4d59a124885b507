/** A command's result beside the recorded one. */
import type { Recorded } from "../plan/types.ts";
import type { CommandResult } from "./command.ts";

type Verdict = "same" | "differs" | "unknown";

export interface Comparison {
  exitCode: Verdict;
  /** Of the outputs with times, paths and colours made alike. */
  output: Verdict;
  /** Null when nothing could be compared. */
  matches: boolean | null;
  recorded: { exitCode: number | null; output: string | null };
}

/** `places`: paths that mean the same folder; the longest are replaced first. */
export function compare(recorded: Recorded, result: CommandResult, places: readonly string[]): Comparison {
  const exitCode = compareCodes(recorded, result);
  const output = compareOutputs(recorded, result, places);
  const verdicts = [exitCode, output];
  const matches = verdicts.includes("differs") ? false : verdicts.includes("same") ? true : null;
  return { exitCode, output, matches, recorded: { exitCode: recorded.exitCode, output: recorded.output } };
}

function compareCodes(recorded: Recorded, { exitCode }: CommandResult): Verdict {
  if (recorded.failed === null) return "unknown";
  if (recorded.exitCode !== null) return recorded.exitCode === exitCode ? "same" : "differs";
  return recorded.failed === (exitCode !== 0) ? "same" : "differs";
}

function compareOutputs(recorded: Recorded, result: CommandResult, places: readonly string[]): Verdict {
  if (recorded.output === null || recorded.cut || result.cut) return "unknown";
  const [old, ...now] = [
    recorded.output,
    result.stdout + result.stderr,
    result.stderr + result.stdout,
    result.stdout,
  ].map((text) => normalised(text, places));
  if (old !== undefined && now.includes(old)) return "same";
  // Two streams were written as they came: the same lines in another order are the same output.
  const sorted = (text = "") => text.split("\n").sort().join("\n");
  return result.stderr !== "" && sorted(old) === sorted(now[0]) ? "same" : "differs";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal codes begin with one
const COLOURS = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
const ALIKE: readonly [RegExp, string][] = [
  [COLOURS, ""],
  [/\r\n?/g, "\n"],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?/g, "<time>"],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, "<time>"],
  [/\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds?|minutes?|min|m)\b/g, "<duration>"],
  [/\bduration_ms:? \d+(?:\.\d+)?/g, "duration_ms <duration>"],
  [/\b0x[0-9a-f]{6,}\b/gi, "<address>"],
  [/\bpid[ =:]+\d+/gi, "pid <pid>"],
  // As git says that it committed: the hash holds the time.
  [/^\[([^\]\n]{1,250}) [0-9a-f]{7,64}\] /gm, "[$1 <commit>] "],
  [/[ \t]+$/gm, ""],
];

function normalised(text: string, places: readonly string[]): string {
  let plain = text;
  for (const place of [...places].sort((a, b) => b.length - a.length)) {
    if (place.length > 1) plain = plain.replaceAll(place, "<project>");
  }
  for (const [form, by] of ALIKE) plain = plain.replace(form, by);
  return plain.trim();
}
