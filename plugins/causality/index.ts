/** Causality: which reads led to which changes. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { definePlugin, defineRoute, type EventKind, type Kernel, type RoutesOf, type Services } from "sessarc";
import { type Causality, createAnalysis } from "./analyze.ts";
import { createChangeWriter } from "./json.ts";

export type { Causality, Change } from "./analyze.ts";
export type { Cause, Relation } from "./relations.ts";

/** Answers kept. */
const KEEP = 16;
const known = new WeakMap<Kernel, Map<string, Promise<Uint8Array<ArrayBuffer>>>>();

export const routes = [
  defineRoute({
    method: "GET",
    path: "/sessions/:id/causality",
    summary: "Which reads and searches led to which changes",
    handler: async ({ kernel, params }): Promise<Causality | Response> => {
      const archive = kernel.inject("archive");
      const row = await archive.row(params.id);
      const answers = known.get(kernel) ?? new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
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
      const body = await answer;
      return new Response(body, {
        headers: { "content-type": "application/json; charset=utf-8", "content-length": String(body.length) },
      });
    },
  }),
] as const;

type Row = Parameters<Services["archive"]["ref"]>[0];

/** ms of work after which others get their turn. */
const SLICE_MS = 8;

/** One pass, in slices; of each message only the fields that say something are read. The answer as JSON: it is sent as it is each time. */
async function analyze(kernel: Kernel, row: Row): Promise<Uint8Array<ArrayBuffer>> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  // Written down as they are found: together they are the largest part of it all.
  const toJson = createChangeWriter();
  const pieces: Buffer[] = [];
  let found = 0;
  const write = () => {
    let text = "";
    for (const change of analysis.takeChanges()) text += (found++ === 0 ? "" : ",") + toJson(change);
    if (text !== "") pieces.push(Buffer.from(text));
  };
  let turn = performance.now();
  for await (const chunk of archive.chunks(row)) {
    for (let i = 0; i < chunk.count; i++) if (LOOKED_AT.has(chunk.kind(i))) analysis.add(chunk.lazy(i));
    write();
    if (performance.now() - turn < SLICE_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
  await nextTurn();
  const { changes: _, ...rest } = analysis.finish();
  return Buffer.concat([Buffer.from('{"changes":['), ...pieces, Buffer.from(`],${JSON.stringify(rest).slice(1)}`)]);
}

const LOOKED_AT: ReadonlySet<EventKind> = new Set<EventKind>(["tool_use", "tool_result"]);

export default definePlugin({ name: "causality", dependsOn: ["archive"], routes });

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
