/** Sessions by pages, as far as the user has scrolled. The loaded rows remain visible while others load. */
import { type Ref, ref, shallowRef } from "vue";
import { api, type QueryOf } from "../../client.ts";
import { useListPages } from "../../state/list-pages.ts";
import type { Session } from "../../wire.ts";

export type SessionQuery = Omit<QueryOf<"GET /sessions">, "limit" | "cursor">;
const PAGE = 100;

export function useSessionList(query: Readonly<Ref<SessionQuery>>) {
  const rows = shallowRef<Session[]>();
  const total = ref(0);
  let next: string | null = null;
  const { error, loading, ask, retry } = useListPages(query, async (cursor, signal) => {
    const page = { limit: PAGE, ...(cursor !== null && { cursor }) };
    const answer = await api("GET /sessions", { query: { ...query.value, ...page }, signal });
    return () => {
      const before = cursor === null ? [] : (rows.value ?? []);
      // A session that moved to a later page while it was read shows once.
      const known = new Set(before.map((one) => one.id));
      rows.value = [...before, ...answer.sessions.filter((one) => !known.has(one.id))];
      total.value = answer.total;
      next = answer.nextCursor;
    };
  });
  const reload = () => ask(null);
  const more = async () => {
    if (next !== null && !loading.value && error.value === undefined) await ask(next);
  };
  return { rows, total, error, loading, reload, more, retry };
}
