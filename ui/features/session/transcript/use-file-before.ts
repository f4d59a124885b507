/** The text of a file as a call of this session found it: the last commit, and what earlier calls wrote since. */
import { type Ref, shallowRef, watch } from "vue";
import { useLatest } from "../../../state/latest.ts";
import type { SessionContext } from "./context.ts";
import { placeEdits } from "./place-edits.ts";
import { readWrites, toWrites } from "./use-writes.ts";

interface FoundFile {
  /** The call. */
  seq: number;
  /** The file at the last commit; null where no commit has it, or it is not known yet. */
  committed: string | null;
  /** Time of that commit, in ms. */
  since: number;
  isFile(path: string): boolean;
}

interface Before extends Pick<FoundFile, "committed" | "isFile"> {
  /** Calls that wrote the file since. */
  earlier: readonly number[];
}

/** null where it is unknown. */
export function useFileBefore(
  session: SessionContext,
  wanted: () => FoundFile | undefined,
): Readonly<Ref<string | null>> {
  const text = shallowRef<string | null>(null);
  const { run, stop } = useLatest(async (signal, { committed, earlier, isFile }: Before) => {
    const writes = await readWrites(session, earlier, isFile, signal);
    if (signal.aborted || !writes) return;
    const edits = writes.sort((a, b) => a.seq - b.seq).flatMap((write) => write.edits);
    text.value = placeEdits(committed, edits)?.at(-1)?.after ?? null;
  });
  watch(
    () => {
      const want = wanted();
      const { times } = session.transcript.value ?? {};
      // Which calls changed the file is not known yet.
      if (!want || !times || !session.causality.value) return null;
      const { seq, committed, since, isFile } = want;
      // Commits know whole seconds.
      const earlier = toWrites(session, isFile).filter((one) => one < seq && !((times[one] ?? 0) <= since + 1000));
      return { committed, isFile, earlier, key: [seq, ...earlier].join() };
    },
    (want, before) => {
      if (want?.key === before?.key && want?.committed === before?.committed) return;
      stop();
      text.value = want && want.earlier.length === 0 ? want.committed : null;
      if (want && want.earlier.length > 0) void run(want);
    },
    { immediate: true },
  );
  return text;
}
