/** Causality: which reads led to which changes. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { definePlugin, defineRoute, type Kernel, type RoutesOf, type Services } from "sessarc";
import { type Causality, createAnalysis } from "./analyze.ts";

export type { Causality, Change } from "./analyze.ts";
export type { Cause, Relation } from "./relations.ts";

/** Answers kept. */
const KEEP = 16;
const known = new WeakMap<Kernel, Map<string, Promise<Causality>>>();

export const routes = [
  defineRoute({
    method: "GET",
    path: "/sessions/:id/causality",
    summary: "Which reads and searches led to which changes",
    handler: async ({ kernel, params }): Promise<Causality> => {
      const archive = kernel.inject("archive");
      const row = await archive.row(params.id);
      const answers = known.get(kernel) ?? new Map<string, Promise<Causality>>();
      known.set(kernel, answers);
      // Only the session's own content counts: other sessions may change as they like.
      const key = `${row.id} ${row.generation} ${row.message_count}`;
      let answer = answers.get(key);
      if (!answer) {
        answer = analyze(kernel, row);
        answer.catch(() => answers.delete(key));
      }
      answers.delete(key);
      answers.set(key, answer);
      if (answers.size > KEEP) answers.delete(answers.keys().next().value as string);
      return answer;
    },
  }),
] as const;

type Row = Parameters<Services["archive"]["ref"]>[0];

/** ms of work after which others get their turn. */
const SLICE_MS = 10;

/** One pass, in slices. */
async function analyze(kernel: Kernel, row: Row): Promise<Causality> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  let turn = performance.now();
  for await (const events of archive.events(row)) {
    for (const event of events) analysis.add(event);
    if (performance.now() - turn < SLICE_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
  return analysis.finish();
}

export default definePlugin({ name: "causality", dependsOn: ["archive"], routes });

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
