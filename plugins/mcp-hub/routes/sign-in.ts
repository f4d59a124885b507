/** Signing in to a service: its beginning, and the page the browser comes back to. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { CALLBACK } from "../grants/sign-in.ts";

const begin = defineRoute({
  method: "POST",
  path: "/mcp/services/:id/sign-in",
  summary: "Begins signing in to a service over HTTP (OAuth): answers the page a person has to go to",
  handler: ({ kernel, params }) => kernel.inject("mcp").signIn.begin(params.id),
});

const word = v.pipe(v.string(), v.maxLength(8_192));

const back = defineRoute({
  method: "GET",
  path: CALLBACK,
  mount: "/",
  summary: "Where the browser comes back to after signing in",
  query: v.object({ state: word, code: v.optional(word), iss: v.optional(word), error: v.optional(word) }),
  handler: async ({ kernel, query }) => {
    const { id } = await kernel.inject("mcp").signIn.finish(query);
    // The id is letters, digits and dashes.
    const page = `<!doctype html><meta charset="utf-8"><title>sessarc</title><p>Signed in to ${id}. You can close this page, or go on to <a href="/">sessarc</a>.</p>`;
    return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
  },
});

export const signInRoutes = [begin, back] as const;
