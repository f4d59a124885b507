/** Calls that failed or took long, by pages. What was loaded stays on show while something else is asked for. */
import { type Ref, ref, shallowRef } from "vue";
import { type Answer, api, type Init } from "../../client.ts";
import { useListPages } from "../../state/list-pages.ts";

type Calls = Answer<"GET /insights/calls">;
export type CallEntry = Calls["calls"][number];
export type CallQuery = Omit<NonNullable<Init<"GET /insights/calls">["query"]>, "limit" | "cursor">;
const PAGE = 50;

export function useCallList(query: Readonly<Ref<CallQuery>>) {
  const calls = shallowRef<CallEntry[]>();
  const names = shallowRef<Calls["names"]>([]);
  const damaged = ref(0);
  /** Where to go on, and how far back was looked; null when all was. */
  const next = shallowRef<Pick<Calls, "nextCursor" | "lookedBackTo">>({ nextCursor: null, lookedBackTo: null });
  const { error, loading, ask, retry } = useListPages(query, async (cursor, signal) => {
    const page = { limit: PAGE, ...(cursor !== null && { cursor }) };
    const answer = await api("GET /insights/calls", { query: { ...query.value, ...page }, signal });
    return () => {
      calls.value = cursor === null ? answer.calls : [...(calls.value ?? []), ...answer.calls];
      damaged.value = answer.damaged + (cursor === null ? 0 : damaged.value);
      names.value = answer.names;
      next.value = answer;
    };
  });
  return { calls, names, damaged, next, error, loading, retry, more: () => ask(next.value.nextCursor) };
}
