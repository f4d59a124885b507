/** Answers as JSON, cached while a session is unchanged. */
import type { EventKind, Kernel, Services } from "sessarc";
import { BoundedMap } from "#internal/adapter";
import { type Change, createAnalysis } from "./analyze.ts";

/** Answers cached. */
const CACHED = 16;

type Row = Parameters<Services["archive"]["ref"]>[0];

export interface Answers {
  /** The answer as JSON, sent as it is each time. */
  get(row: Row): Promise<Uint8Array<ArrayBuffer>>;
}

export function createAnswers(kernel: Kernel): Answers {
  const cached = new BoundedMap<string, Promise<Uint8Array<ArrayBuffer>>>(CACHED);
  return {
    get(row) {
      // Only the session's own content counts: other sessions may change as they like.
      const key = `${row.id} ${row.generation} ${row.message_count}`;
      let answer = cached.get(key);
      if (!answer) {
        answer = analyze(kernel, row);
        answer.catch(() => cached.delete(key));
      }
      cached.set(key, answer); // the newest again
      return answer;
    },
  };
}

const ANALYZED: ReadonlySet<EventKind> = new Set<EventKind>(["tool_use", "tool_result"]);

/** One pass, chunk by chunk; of each message only the fields that say something are read. */
async function analyze(kernel: Kernel, row: Row): Promise<Uint8Array<ArrayBuffer>> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  // Written as they are found: together they are the largest part of the answer.
  const pieces: Buffer[] = [];
  const write = (changes: readonly Change[]) => {
    if (changes.length === 0) return;
    const text = changes.map((change) => JSON.stringify(change)).join(",");
    pieces.push(Buffer.from(pieces.length > 0 ? `,${text}` : text));
  };
  for await (const chunk of archive.chunks(row)) {
    for (let i = 0; i < chunk.count; i++) if (ANALYZED.has(chunk.kind(i))) analysis.add(chunk.lazy(i));
    write(analysis.takeChanges());
  }
  const { changes, ...rest } = analysis.finish();
  write(changes);
  return Buffer.concat([Buffer.from('{"changes":['), ...pieces, Buffer.from(`],${JSON.stringify(rest).slice(1)}`)]);
}
