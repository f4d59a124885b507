/** Rules of the secret scanner. */
import { useQuery } from "@pinia/colada";
import { type Answer, api, type BodyOf } from "../../client.ts";
import { useRefresh } from "../../state/refresh.ts";

export type Rule = Answer<"GET /security/rules">["rules"][number];
export type RuleInput = BodyOf<"POST /security/rules">;

/** The same answer as the share dialog asks for. */
export const useRules = () =>
  useQuery({ key: ["security-rules"], query: ({ signal }) => api("GET /security/rules", { signal }) });

export function useRuleRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh({ key: ["security-rules"] }, { key: ["security-check"] });
}
