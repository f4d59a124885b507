/** Rules, the security check of a session, its redacted export. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { countDryRun } from "./dry-run.ts";
import { ruleInput, rulePatch, toTrialRule } from "./rule-set.ts";

const count = (max: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,6}$/, "must be a whole number"), v.transform(Number), v.maxValue(max));
const flag = v.optional(v.picklist(["0", "1"]));

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
    const { createScanner } = await import("./engine.ts");
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

const dryRun = defineRoute({
  method: "POST",
  path: "/security/rules/dry-run",
  summary: "How many archived tool calls a rule (or all rules) would have blocked",
  body: v.object({
    rule: v.optional(ruleInput),
    days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3650))),
  }),
  handler: ({ kernel, body, signal }) => countDryRun(kernel, body, signal),
});

const check = defineRoute({
  method: "GET",
  path: "/sessions/:id/security-check",
  summary: "Secrets in a session, masked",
  query: v.object({
    personal: flag,
    limit: v.optional(v.pipe(count(1000), v.minValue(1))),
    cursor: v.optional(count(999_999)),
  }),
  handler: async ({ kernel, params, query }) => {
    const { findings, totals, scannedBytes } = await kernel.inject("redactor").check(params.id, query.personal === "1");
    const from = query.cursor ?? 0;
    const to = from + (query.limit ?? 1000);
    return {
      findings: findings.slice(from, to),
      totals,
      scannedBytes,
      nextCursor: to < findings.length ? String(to) : null,
    };
  },
});

const TYPES = { md: "text/markdown", html: "text/html", json: "application/json" } as const;

const exportRedacted = defineRoute({
  method: "GET",
  path: "/sessions/:id/export-redacted",
  summary: "The session without its secrets, as a Markdown file",
  query: v.object({ format: v.optional(v.picklist(["md", "html", "json"])) }),
  handler: async ({ kernel, params, query }): Promise<Response> => {
    const format = query.format ?? "md";
    const { text, fileName, redactions } = await kernel.inject("redactor").document(params.id, format);
    return new Response(text, {
      headers: {
        "content-type": `${TYPES[format]}; charset=utf-8`,
        "content-disposition": `attachment; filename="${fileName}"`,
        "content-length": String(Buffer.byteLength(text)),
        // How many places each rule replaced: a preview says so before a share is made.
        "sessarc-redactions": JSON.stringify(redactions),
      },
    });
  },
});

export const securityRoutes = [list, create, update, remove, test, dryRun, check, exportRedacted] as const;
