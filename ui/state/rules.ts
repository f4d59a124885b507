/** Rules of the secret scanner. */
import { useQuery, useQueryCache } from "@pinia/colada";
import { type Answer, api, type BodyOf } from "../client.ts";

export type Rule = Answer<"GET /security/rules">["rules"][number];
export type RuleInput = BodyOf<"POST /security/rules">;

/** The same answer as the share dialog asks for. */
export const useRules = () =>
  useQuery({ key: ["security-rules"], query: ({ signal }) => api("GET /security/rules", { signal }) });

export function useRuleRefresh(): () => Promise<unknown> {
  const cache = useQueryCache();
  return () => Promise.all([["security-rules"], ["security-check"]].map((key) => cache.invalidateQueries({ key })));
}
