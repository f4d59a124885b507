/** Whether a mistake is in what an assistant did. */
import type { Kernel, SessionEvent } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import type { Mistake } from "../find/finding.ts";
import { createSlipReader } from "../read/slips.ts";
import { toStem, wordsOf } from "../read/words.ts";

/** Watches the calls of one session. */
export interface Judge {
  event(event: SessionEvent): void;
  /** The mistake was made. */
  failed(): boolean;
}

export function createJudge(mistake: Mistake, tools: Readonly<Record<string, ToolRole>>, cwd: string | null): Judge {
  if ("words" in mistake) return createWordJudge(mistake.words);
  const reader = createSlipReader(tools, cwd);
  return {
    event: reader.event,
    failed: () =>
      reader.runs.some(
        ({ ok, head, words }) =>
          !ok &&
          mistake.heads.includes(head) &&
          (mistake.added.length === 0 || !mistake.added.every((word) => words.includes(word))),
      ),
  };
}

/** A call whose arguments hold all words of what is refused. */
function createWordJudge(words: readonly string[]): Judge {
  let failed = false;
  return {
    event({ kind, tool_input }) {
      if (kind !== "tool_use" || failed || words.length === 0) return;
      const said = new Set(
        wordsOf(JSON.stringify(tool_input ?? "").replaceAll("\\n", " ")).flatMap((word) => [
          toStem(word),
          ...word.split(/[^\p{L}\p{N}]+/u).map(toStem),
        ]),
      );
      failed = words.every((word) => said.has(word));
    },
    failed: () => failed,
  };
}

/** Whether the mistake is in the logs that a run left in its home. Undefined where it left none. */
export async function judgeLogs(kernel: Kernel, home: string, mistake: Mistake): Promise<boolean | undefined> {
  const env = { home, platform: kernel.env.platform, env: {} };
  let failed: boolean | undefined;
  for (const adapter of kernel.registry.adapters.values())
    for (const root of adapter.roots(env))
      for await (const ref of adapter.scan(root, env)) {
        const judge = createJudge(mistake, adapter.tools ?? {}, ref.cwd ?? null);
        for await (const events of adapter.read(ref, env)) for (const event of events) judge.event(event);
        failed = failed === true || judge.failed();
      }
  return failed;
}
