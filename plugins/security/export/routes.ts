/** The security check of a session, its redacted export, and rules tried on the archive. */

import { defineRoute, toErrorBody, toEvents } from "sessarc";
import * as v from "valibot";
import { NOT_CHECKED } from "../secrets/redact/not-checked.ts";
import { ruleInput } from "../secrets/rule-set.ts";
import { countDryRun } from "./dry-run.ts";
import { toPage } from "./pages.ts";
import type { Follow } from "./sessions.ts";
import { inPieces } from "./turns.ts";

const count = (max: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,6}$/, "must be a whole number"), v.transform(Number), v.maxValue(max));
const flag = v.optional(v.picklist(["0", "1"]));

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
  summary: "Secrets in a session, masked; with `Accept: text/event-stream` progress comes as events",
  query: v.object({
    personal: flag,
    limit: v.optional(v.pipe(count(1000), v.minValue(1))),
    cursor: v.optional(v.string()),
  }),
  handler: async ({ kernel, params, query, event, signal }) => {
    const run = async (follow: Follow) => {
      const {
        findings,
        messages: _,
        ...rest
      } = await kernel.inject("redactor").check(params.id, query.personal === "1", follow);
      return { ...rest, ...toPage(findings, query.limit ?? 1000, query.cursor) };
    };
    return wantsEvents(event.req) ? told(run) : run({ signal });
  },
});

const wantsEvents = (request: Request) => request.headers.get("accept")?.includes("text/event-stream") === true;

/** Frames `{ type: "progress", done, total }`, then `{ type: "done", … }` or `{ type: "error", … }`. */
function told(run: (follow: Follow) => Promise<object>): Response {
  return toEvents(async (out) => {
    out.comment("begun");
    const onProgress = (done: number, total: number) => out.send({ type: "progress", done, total });
    try {
      out.send({ type: "done", ...(await run({ onProgress, signal: out.gone })) });
    } catch (error) {
      out.send({ type: "error", ...toErrorBody(error) });
    }
    out.close();
  });
}

const TYPES = { md: "text/markdown", html: "text/html", json: "application/json" } as const;

const exportRedacted = defineRoute({
  method: "GET",
  path: "/sessions/:id/export-redacted",
  summary: "The session without its secrets, as a file; with `Accept: text/event-stream` progress comes as events",
  query: v.object({ format: v.optional(v.picklist(["md", "html", "json"])) }),
  handler: async ({ kernel, params, query, event, signal }): Promise<Response> => {
    const format = query.format ?? "md";
    const run = (follow: Follow) => kernel.inject("redactor").document(params.id, format, true, follow);
    if (wantsEvents(event.req)) return told(run);
    const end = await kernel.inject("redactor").turns.enter(signal);
    const { text, fileName, redactions } = await run({ signal }).catch((error: unknown) => {
      end();
      throw error;
    });
    const document = Buffer.from(text);
    if (event.req.method === "HEAD") end();
    return new Response(inPieces(document, end), {
      headers: {
        "content-type": `${TYPES[format]}; charset=utf-8`,
        "content-disposition": `attachment; filename="${fileName}"`,
        "content-length": String(document.length),
        // How many places each rule replaced: a preview shows that before a share is made.
        "sessarc-redactions": JSON.stringify(redactions),
        // Texts left out because they could not be checked in time.
        "sessarc-unchecked": String(redactions[NOT_CHECKED] ?? 0),
      },
    });
  },
});

export const exportRoutes = [dryRun, check, exportRedacted] as const;
