/** Answers, made once for as long as a session stays what it is; those of long sessions before anybody asks. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventKind, Kernel, Services } from "sessarc";
import { BoundedMap } from "#internal/adapter";
import { type Change, createAnalysis } from "./analyze.ts";
import { createChangeWriter } from "./json.ts";

/** Answers kept. */
const KEEP = 16;
/** ms of work after which others get their turn. */
const SLICE_MS = 8;
/** Milliseconds without an import before long sessions are analysed. */
const QUIET_MS = 500;
/** Messages from which on an answer takes long enough to be noticed (about 50 ms). */
const LONG = 5_000;
/** Messages analysed ahead of any request, over all long sessions together: bounds the work after an import. */
const AHEAD = 45_000;

type Row = Parameters<Services["archive"]["ref"]>[0];

export interface Answers {
  /** The answer as JSON, sent as it is each time. */
  get(row: Row): Promise<Uint8Array<ArrayBuffer>>;
  /** After the start, or after a first import: long sessions, the newest first, are ready then. Once; ends with the kernel. */
  prefetch(): void;
}

export function createAnswers(kernel: Kernel): Answers {
  const kept = new BoundedMap<string, Promise<Uint8Array<ArrayBuffer>>>(KEEP);

  const self: Answers = {
    get(row) {
      // Only the session's own content counts: other sessions may change as they like.
      const key = `${row.id} ${row.generation} ${row.message_count}`;
      let answer = kept.get(key);
      if (!answer) {
        answer = analyze(kernel, row);
        answer.catch(() => kept.delete(key));
      }
      kept.set(key, answer); // the newest again
      return answer;
    },
    prefetch() {
      let timer: NodeJS.Timeout | undefined;
      const plan = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          run().catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "causality" }));
        }, QUIET_MS);
        timer.unref();
      };
      const off = [kernel.hooks.hook("kernel:ready", plan), kernel.hooks.hook("session:replaced", plan)];
      const end = () => {
        clearTimeout(timer);
        for (const one of off) one();
      };
      const run = async () => {
        const archive = kernel.inject("archive");
        const longest = await archive.list({ sort: "messages", limit: KEEP });
        if (longest.length > 0) end();
        const newest = longest.sort((a, b) => endOf(b) - endOf(a));
        let left = AHEAD;
        for (const { id, messageCount } of newest) {
          if (messageCount < LONG || messageCount > left) continue;
          left -= messageCount;
          const row = await archive.find(id);
          if (row && !kernel.closing.aborted) await self.get(row);
        }
      };
      kernel.onClose(end);
    },
  };
  return self;
}

const endOf = ({ endedAt }: { endedAt: string | null }): number => (endedAt === null ? 0 : Date.parse(endedAt));

const LOOKED_AT: ReadonlySet<EventKind> = new Set<EventKind>(["tool_use", "tool_result"]);

/** One pass, in slices; of each message only the fields that say something are read. */
async function analyze(kernel: Kernel, row: Row): Promise<Uint8Array<ArrayBuffer>> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  // Written down as they are found: together they are the largest part of it all.
  const toJson = createChangeWriter();
  const pieces: Buffer[] = [];
  let found = 0;
  const write = (changes: readonly Change[]) => {
    let text = "";
    for (const change of changes) text += (found++ === 0 ? "" : ",") + toJson(change);
    if (text !== "") pieces.push(Buffer.from(text));
  };
  let turn = performance.now();
  for await (const chunk of archive.chunks(row)) {
    for (let i = 0; i < chunk.count; i++) if (LOOKED_AT.has(chunk.kind(i))) analysis.add(chunk.lazy(i));
    write(analysis.takeChanges());
    if (performance.now() - turn < SLICE_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
  await nextTurn();
  const { changes, ...rest } = analysis.finish();
  write(changes);
  return Buffer.concat([Buffer.from('{"changes":['), ...pieces, Buffer.from(`],${JSON.stringify(rest).slice(1)}`)]);
}
