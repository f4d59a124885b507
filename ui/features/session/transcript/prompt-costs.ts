/** What each prompt of a session led to, loaded when its outline is open. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { type Answer, api } from "../../../client.ts";

type Costs = Answer<"GET /sessions/:id/prompts">;
export interface PromptFigures {
  /** All kinds in one. */
  tokens: number;
  cost: Costs["rest"]["cost"];
}

export function usePromptCosts(id: string) {
  const query = useQuery({
    key: ["session", id, "prompts"],
    query: ({ signal }) => api("GET /sessions/:id/prompts", { params: { id }, signal }),
  });
  const bySeq = computed(
    () => new Map((query.data.value?.prompts ?? []).map((one) => [one.seq, toFigures(one)] as const)),
  );
  return {
    /** Why there is nothing. */
    missing: computed(() => query.data.value?.missing ?? null),
    of: (seq: number): PromptFigures | undefined => {
      const found = bySeq.value.get(seq);
      return found && found.tokens > 0 ? found : undefined;
    },
    rest: computed(() => {
      const { rest, missing } = query.data.value ?? {};
      return rest && missing === null && toFigures(rest).tokens > 0 ? toFigures(rest) : undefined;
    }),
  };
}

const toFigures = ({ tokens, cost }: Costs["rest"]): PromptFigures => ({
  tokens: Object.values(tokens).reduce((sum, n) => sum + n, 0),
  cost,
});
