/** `verify` of the configuration: what makes `sessarc verify` fail. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";
import type { Verification } from "./verify.ts";

export const config = {
  verify: {
    schema: v.strictObject({
      /** What a secret in an added line does. A `possible` finding is only reported. */
      secrets: v.optional(v.picklist(["fail", "report"]), "report"),
      /** The largest share of added lines of which nothing says who wrote them, 0 to 1. */
      unknown: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 1),
      /** `required`: each session ran its tests after its last change, and they passed. */
      tests: v.optional(v.picklist(["required", "report"]), "report"),
      /** The same for type checks. */
      types: v.optional(v.picklist(["required", "report"]), "report"),
    }),
  },
} as const satisfies Record<string, ConfigKey>;

export interface VerifyPolicy {
  secrets: "fail" | "report";
  unknown: number;
  tests: "required" | "report";
  types: "required" | "report";
}

/** What the policy forbids, in sentences; empty where all is well. */
export function findProblems(
  { secrets, total, sessions }: Pick<Verification, "secrets" | "total" | "sessions">,
  policy: VerifyPolicy,
): string[] {
  const problems: string[] = [];
  const real = secrets.filter(({ confidence }) => confidence !== "possible");
  if (policy.secrets === "fail" && real.length > 0)
    problems.push(`${real.length} ${real.length === 1 ? "secret is" : "secrets are"} in added lines`);
  const all = total.assistant + total.mixed + total.person + total.unknown;
  const share = all === 0 ? 0 : total.unknown / all;
  if (share > policy.unknown)
    problems.push(
      `Nothing says who wrote ${percent(share)} of the added lines; ${percent(policy.unknown)} are allowed`,
    );
  for (const kind of ["tests", "types"] as const) {
    if (policy[kind] !== "required") continue;
    for (const { id, checks } of sessions) {
      const noun = kind === "tests" ? "tests" : "type checks";
      if (checks[kind] === "failed") problems.push(`The last ${noun} of session ${id} failed`);
      if (checks[kind] === "stale") problems.push(`Session ${id} ran no ${noun} after its last change`);
      if (checks[kind] === "none") problems.push(`Session ${id} ran no ${noun}`);
    }
  }
  return problems;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
