/** The rules of secrets, and a rule tried on a text. */

import { defineRoute } from "sessarc";
import * as v from "valibot";
import { ruleInput, rulePatch, toTrialRule } from "./rule-set.ts";

const list = defineRoute({
  method: "GET",
  path: "/security/rules",
  summary: "Rules: built-in ones, those of the configuration, your own",
  handler: async ({ kernel }) => ({ rules: await kernel.inject("rules").list() }),
});

const create = defineRoute({
  method: "POST",
  path: "/security/rules",
  status: 201,
  summary: "Add a rule; its pattern runs in linear time",
  body: ruleInput,
  handler: ({ kernel, body }) => kernel.inject("rules").create(body),
});

const update = defineRoute({
  method: "PATCH",
  path: "/security/rules/:id",
  summary: "Change a rule; built-in ones can be switched off and on",
  body: rulePatch,
  handler: ({ kernel, params, body }) => kernel.inject("rules").update(params.id, body),
});

const remove = defineRoute({
  method: "DELETE",
  path: "/security/rules/:id",
  summary: "Delete a rule of your own",
  handler: async ({ kernel, params }) => {
    await kernel.inject("rules").remove(params.id);
    return { deleted: true as const };
  },
});

const test = defineRoute({
  method: "POST",
  path: "/security/rules/test",
  summary: "What a rule would find in a text",
  body: v.object({ rule: ruleInput, text: v.pipe(v.string(), v.maxLength(1_000_000)) }),
  handler: async ({ body }) => {
    const { createScanner } = await import("../secrets/engine.ts");
    const { findings, partial } = createScanner([await toTrialRule({ ...body.rule, kind: "redact" })]).scan(body.text, {
      budgetMs: 40,
    });
    return {
      findings: findings
        .slice(0, 1000)
        .map(({ start, end, confidence, masked }) => ({ start, end, confidence, masked })),
      partial,
    };
  },
});

export const ruleRoutes = [list, create, update, remove, test] as const;
