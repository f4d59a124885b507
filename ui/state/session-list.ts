/** Sessions by pages, as far as somebody has scrolled. What was loaded stays on show while something else is asked for. */
import { onScopeDispose, type Ref, ref, shallowRef, watch } from "vue";
import { api, type QueryOf } from "../client.ts";
import type { Session } from "../wire.ts";
import { useAgain } from "./again.ts";

export type SessionQuery = Omit<QueryOf<"GET /sessions">, "limit" | "cursor">;
const PAGE = 100;

export function useSessionList(query: Readonly<Ref<SessionQuery>>) {
  const rows = shallowRef<Session[]>();
  const total = ref(0);
  const error = shallowRef<unknown>();
  const loading = ref(false);
  let cursor: string | null = null;
  let asking = new AbortController();

  let asked: string | null = null;
  const again = useAgain(() => ask(asked));

  async function ask(from: string | null): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    asked = from;
    loading.value = true;
    try {
      const answer = await api("GET /sessions", {
        query: { ...query.value, limit: PAGE, ...(from !== null && { cursor: from }) },
        signal,
      });
      if (signal.aborted) return;
      // A session that moved to a later page while it was read shows once.
      const known = new Set(from === null ? [] : rows.value?.map((one) => one.id));
      rows.value = [
        ...(from === null ? [] : (rows.value ?? [])),
        ...answer.sessions.filter((one) => !known.has(one.id)),
      ];
      total.value = answer.total;
      cursor = answer.nextCursor;
      error.value = undefined;
    } catch (failure) {
      if (!signal.aborted) {
        error.value = failure;
        again(failure);
      }
    }
    if (!signal.aborted) loading.value = false;
  }
  const reload = () => ask(null);
  const more = async () => {
    if (cursor !== null && !loading.value && error.value === undefined) await ask(cursor);
  };
  const retry = () => ask(asked);

  watch(query, reload, { immediate: true });
  onScopeDispose(() => asking.abort());
  return { rows, total, error, loading, reload, more, retry };
}
