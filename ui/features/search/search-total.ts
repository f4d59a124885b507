/** The exact number behind a search whose first page says "at least": asked for then only, and shown as it is counted. */
import { computed, shallowRef, watch } from "vue";
import type { SearchTotalFrame } from "../../../plugins/index.ts";
import { type QueryOf, request } from "../../client.ts";
import { readFrames } from "../../state/import-frames.ts";
import { useLatest } from "../../state/latest.ts";
import type { SearchAnswer } from "../../wire.ts";

interface Counted {
  /** The page whose total it is. */
  page: SearchAnswer;
  /** So far; all of them once `relation` is there. */
  sessions: number;
  relation?: "eq" | "gte";
}

/** `asked`: the first page of what is asked now, undefined until it is there, and its filters. A new question ends the counting of the last. */
export function useSearchTotal(
  asked: () => SearchAnswer | undefined,
  filters: () => NonNullable<QueryOf<"GET /search/total">>,
) {
  const counted = shallowRef<Counted>();
  const { run, stop } = useLatest(async (signal, page: SearchAnswer) => {
    counted.value = { page, sessions: page.total.sessions };
    try {
      const response = await request("GET /search/total", {
        query: filters(),
        headers: { accept: "text/event-stream" },
        signal,
      });
      for await (const frame of readFrames<SearchTotalFrame>(response)) {
        if (signal.aborted) return;
        const sessions = Math.max(frame.sessions, page.total.sessions);
        counted.value = { page, sessions, ...(frame.type === "done" && { relation: frame.relation }) };
      }
    } catch {
      // The page's own lower bound stands.
    }
    if (!signal.aborted && counted.value?.relation === undefined) counted.value = undefined;
  });
  watch(
    asked,
    (page) => {
      stop();
      if (page && !page.recent && page.total.relation === "gte") void run(page);
    },
    { immediate: true },
  );

  /** What is known of a page's total; `counting` while it is a lower bound that grows. */
  return (page: () => SearchAnswer | undefined) =>
    computed(() => {
      const first = page();
      if (!first) return undefined;
      const own = counted.value?.page === first ? counted.value : undefined;
      return {
        sessions: own?.sessions ?? first.total.sessions,
        more: (own?.relation ?? first.total.relation) === "gte",
        counting: own !== undefined && own.relation === undefined,
      };
    });
}
