/** The calls of this session that changed one file, asked for when a diff is on show. */
import { watch } from "vue";
import { api } from "../../../client.ts";
import { useLatest } from "../../../state/latest.ts";
import type { Hunk } from "../../code/diff-types.ts";
import type { SessionContext } from "./context.ts";
import type { Write } from "./writes.ts";

/** So many calls back; what was written longer ago is not looked for. */
const MOST = 40;
const AT_ONCE = 6;

interface Wanted {
  /** Newest message that counts. */
  until: number;
  path: string;
  isFile(path: string): boolean;
}

/** The calls that changed a file and did not fail, in order. */
export function toWrites(session: SessionContext, isFile: (path: string) => boolean): number[] {
  const { errors, partner } = session.transcript.value ?? {};
  const seqs = (session.causality.value?.changes ?? [])
    .filter(({ seq, path }) => !errors?.has(partner?.[seq] ?? -1) && isFile(path))
    .map(({ seq }) => seq);
  return [...new Set(seqs)];
}

/** What these calls wrote into the file; undefined where there are too many to read, or one cannot be read. */
export async function readWrites(
  session: SessionContext,
  seqs: readonly number[],
  isFile: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Write[] | undefined> {
  if (seqs.length > MOST) return undefined;
  const { toWrite } = await import("./writes.ts");
  const found: Write[] = [];
  const left = [...seqs];
  let missing = false;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let seq = left.pop(); seq !== undefined && !signal.aborted; seq = left.pop()) {
        const message = session.pages.get(seq) ?? (await one(session.id, seq));
        missing ||= message === undefined;
        const write = message && toWrite(message, isFile);
        if (write) found.push(write);
      }
    }),
  );
  return missing ? undefined : found;
}

/** Tells which message wrote a hunk of the file; undefined until the calls are there. `wanted` undefined: none are asked for. */
export function useWrites(session: SessionContext, wanted: () => Wanted | undefined) {
  const { fresh: writtenBy, run } = useLatest(async (signal, list: string) => {
    const want = wanted();
    if (list === "" || !want) return undefined;
    const seqs = list
      .slice(list.lastIndexOf("\n") + 1)
      .split(",")
      .map(Number);
    // With too many to read, it is unknown which one is unique.
    const found = await readWrites(session, seqs, want.isFile, signal);
    if (!found || found.length === 0) return undefined;
    const { findWriter } = await import("./writes.ts");
    return (hunk: Hunk) => findWriter(hunk, found);
  });
  watch(
    () => {
      const want = wanted();
      const seqs = want ? toWrites(session, want.isFile).filter((seq) => seq <= want.until) : [];
      return seqs.length === 0 ? "" : `${want?.path}\n${seqs.join()}`;
    },
    (list) => run(list),
    { immediate: true },
  );
  return writtenBy;
}

async function one(id: string, seq: number) {
  const query = { after: seq === 0 ? undefined : seq - 1, limit: 1 };
  // Without all bodies no hunk can be attributed: the diff is shown without names.
  const answer = await api("GET /sessions/:id/messages", { params: { id }, query }).catch(() => undefined);
  return answer?.messages[0];
}
