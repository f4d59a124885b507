/** The repository as it was when a message was written. */
import { useTimeoutFn } from "@vueuse/core";
import { computed, onScopeDispose, ref, shallowRef, watch } from "vue";
import { type Answer, ApiError, api } from "../client.ts";

export type CommitAt = Answer<"GET /git/at">;
export type Tree = Answer<"GET /git/tree">;
type FileAt = Answer<"GET /git/file">;

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
  const state = shallowRef<CommitAt>();
  const tree = shallowRef<Tree>();
  const content = shallowRef<FileAt>();
  const problem = shallowRef<ApiError>();
  const fileProblem = shallowRef<ApiError>();
  const loading = ref(false);
  let stop = new AbortController();
  const trees = new Map<string, Tree>();

  const commit = computed(() => state.value?.commit ?? null);

  const later = useTimeoutFn(load, WAIT, { immediate: false });
  watch(
    () => [project(), at(), message().seq] as const,
    () => {
      stop.abort();
      loading.value = false;
      later.start();
    },
    { immediate: true },
  );

  async function load(): Promise<void> {
    const [id, ts] = [project(), at()];
    if (id === undefined || ts === undefined) return;
    stop = new AbortController();
    const { signal } = stop;
    loading.value = true;
    try {
      const { session, seq } = message();
      const answer = await api("GET /git/at", { query: { project: id, ts, session, seq: String(seq) }, signal });
      problem.value = undefined;
      const hash = answer.commit?.hash;
      if (hash !== undefined) {
        const known = trees.get(hash) ?? (await api("GET /git/tree", { query: { project: id, commit: hash }, signal }));
        trees.delete(hash);
        trees.set(hash, known);
        for (const oldest of trees.keys()) if (trees.size > KEPT) trees.delete(oldest);
        tree.value = known;
      } else tree.value = undefined;
      state.value = answer;
    } catch (error) {
      if (error instanceof ApiError) problem.value = error;
    } finally {
      if (!signal.aborted) loading.value = false;
    }
  }

  let run = 0;
  watch(
    () => [project(), other() ?? commit.value?.hash, file()] as const,
    async ([id, hash, path]) => {
      const mine = ++run;
      fileProblem.value = undefined;
      if (id === undefined || hash === undefined || path === undefined) {
        content.value = undefined;
        return;
      }
      try {
        const answer = await api("GET /git/file", { query: { project: id, commit: hash, path } });
        if (mine === run) content.value = answer;
      } catch (error) {
        if (mine !== run) return;
        content.value = undefined;
        if (error instanceof ApiError) fileProblem.value = error;
      }
    },
    { immediate: true },
  );
  onScopeDispose(() => stop.abort());
  return { state, commit, tree, content, problem, fileProblem, loading, retry: () => void load() };
}

export interface CommitMark {
  at: number;
  hash: string;
  subject: string;
}
const MOST = 60;

/** Commits made while the session ran, oldest first, found by walking back from its end. */
export async function commitsDuring(
  project: string,
  start: string,
  end: string,
  signal: AbortSignal,
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
