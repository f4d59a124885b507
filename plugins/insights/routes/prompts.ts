/** GET /sessions/:id/prompts: what each prompt led to in tokens and cost, exact to the session's own total. */
import { defineRoute } from "sessarc";
import type { PromptCosts } from "../figures/prompts.ts";

export const promptsRoute = defineRoute({
  method: "GET",
  path: "/sessions/:id/prompts",
  meta: { team: true },
  summary: "Tokens and cost from each prompt to the next, summing up to the session's own",
  handler: ({ kernel, params }): Promise<PromptCosts> => kernel.inject("insights").prompts(params.id),
});
