/** What earlier sessions say about a question. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { type Answer, api } from "../../client.ts";

export type Evidence = Answer<"GET /recall">["evidence"][number];

const MOST = 5;
/** Characters of a question that the service reads. */
const LENGTH = 4_000;

/** Undefined until it is known; none where `question` is undefined. */
export function useEvidence(question: () => string | undefined) {
  const asked = useQuery({
    key: () => ["recall", question() ?? ""],
    enabled: () => question() !== undefined,
    query: ({ signal }) => api("GET /recall", { query: { q: question()?.slice(0, LENGTH) }, signal }),
  });
  return computed<readonly Evidence[] | undefined>(() => {
    if (question() === undefined || asked.error.value) return [];
    return asked.data.value?.evidence.slice(0, MOST);
  });
}
