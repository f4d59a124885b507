/** How many secrets are open in sessions: a badge of the rail, a line of Now. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { api } from "../client.ts";
import { offers } from "./offers.ts";
import { usePoll } from "./poll.ts";

const POLL_MS = 60_000;

export function useLeakCount() {
  const query = useQuery({
    key: ["leaks", "count"],
    enabled: offers("GET /security/leaks/count"),
    query: ({ signal }) => api("GET /security/leaks/count", { signal }),
  });
  usePoll(async () => {
    if (query.data.value) await query.refresh();
  }, POLL_MS);
  return computed(() => query.data.value ?? { open: 0, sessions: 0, pending: 0 });
}
