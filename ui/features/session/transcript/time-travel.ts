/** The repository as it was when a message was written. */
import { useTimeoutFn } from "@vueuse/core";
import { computed, watch } from "vue";
import { type Answer, ApiError, api } from "../../../client.ts";
import { useLatest } from "../../../state/latest.ts";

export type CommitAt = Answer<"GET /git/at">;
export type Tree = Answer<"GET /git/tree">;

const WAIT = 120;
/** Trees kept for going back and forth; one of a large repository is several MB. */
const KEPT = 8;

export function useTimeTravel(
  project: () => string | undefined,
  at: () => string | undefined,
  message: () => { session: string; seq: number },
  file: () => string | undefined,
  /** Another commit to take the file from. */
  other: () => string | undefined = () => undefined,
) {
  const trees = new Map<string, Tree>();
  const now = useLatest(async (signal, id: string, ts: string) => {
    const { session, seq } = message();
    const state = await api("GET /git/at", { query: { project: id, ts, session, seq: String(seq) }, signal });
    const hash = state.commit?.hash;
    if (hash === undefined) return { state, tree: undefined };
    const tree = trees.get(hash) ?? (await api("GET /git/tree", { query: { project: id, commit: hash }, signal }));
    trees.delete(hash);
    trees.set(hash, tree);
    for (const oldest of trees.keys()) if (trees.size > KEPT) trees.delete(oldest);
    return { state, tree };
  });
  async function load(): Promise<void> {
    const [id, ts] = [project(), at()];
    if (id !== undefined && ts !== undefined) await now.run(id, ts);
  }
  const commit = computed(() => now.data.value?.state.commit ?? null);

  const later = useTimeoutFn(load, WAIT, { immediate: false });
  watch(
    () => [project(), at(), message().seq] as const,
    () => {
      now.stop();
      later.start();
    },
    { immediate: true },
  );

  const shown = useLatest(async (signal) => {
    const [id, hash, path] = [project(), other() ?? commit.value?.hash, file()];
    if (id === undefined || hash === undefined || path === undefined) return undefined;
    return api("GET /git/file", { query: { project: id, commit: hash, path }, signal });
  });
  watch(
    () => [project(), other() ?? commit.value?.hash, file()],
    () => shown.run(),
    { immediate: true },
  );
  const problemOf = ({ error }: typeof now | typeof shown) =>
    error.value instanceof ApiError ? error.value : undefined;
  return {
    state: computed(() => now.data.value?.state),
    commit,
    tree: computed(() => now.data.value?.tree),
    content: computed(() => (shown.error.value === undefined ? shown.data.value : undefined)),
    problem: computed(() => problemOf(now)),
    fileProblem: computed(() => (shown.pending.value ? undefined : problemOf(shown))),
    loading: now.pending,
    retry: () => void load(),
  };
}

export interface CommitMark {
  at: number;
  hash: string;
  subject: string;
}
const MOST = 60;

/** Commits made while the session ran, oldest first, found by walking back from its end. */
export async function commitsDuring(
  signal: AbortSignal,
  project: string,
  start: string,
  end: string,
): Promise<CommitMark[]> {
  const found: CommitMark[] = [];
  let time = end;
  while (found.length < MOST && !signal.aborted) {
    const { commit, others } = await api("GET /git/at", { query: { project, ts: time }, signal });
    if (!commit) break;
    const at = Date.parse(commit.at);
    // Stamps have whole seconds: one of the session's first second may be its own.
    if (at < Math.floor(Date.parse(start) / 1000) * 1000 || found.some((one) => one.hash === commit.hash)) break;
    const second = [commit, ...others.filter((one) => one.at === commit.at)];
    found.push(...second.map(({ hash, subject }) => ({ at, hash, subject })));
    time = new Date(at - 1000).toISOString();
  }
  return found.reverse();
}
