/** Shares: making and managing them, and the public page. */
import { defineRoute, type Kernel } from "sessarc";
import * as v from "valibot";
import { NOT_FOUND_PAGE, NOT_FOUND_POLICY } from "./not-found.ts";

/** A minute, in days. */
const SHORTEST = 1 / 1440;

const create = defineRoute({
  method: "POST",
  path: "/sessions/:id/share",
  status: 201,
  summary: "Freezes a redacted copy behind a token, which is shown this once",
  body: v.optional(
    v.object({
      expiresInDays: v.optional(
        v.pipe(v.number(), v.minValue(SHORTEST, "is less than a minute"), v.maxValue(90, "is more than 90 days")),
      ),
    }),
    {},
  ),
  handler: ({ kernel, params, body }) => kernel.inject("shares").create(params.id, body.expiresInDays ?? 7),
});

const list = defineRoute({
  method: "GET",
  path: "/shares",
  summary: "Shares with views and expiry; never their tokens",
  handler: async ({ kernel }) => ({ shares: await kernel.inject("shares").list() }),
});

const revoke = defineRoute({
  method: "DELETE",
  path: "/shares/:id",
  summary: "Revokes a share and deletes its copy; ?undo=1 stores it for two minutes, in which it can be restored",
  query: v.object({ undo: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, params, query }) => {
    const undoMs = await kernel.inject("shares").revoke(params.id, { undo: query.undo === "1" });
    return { revoked: true as const, ...(undoMs > 0 && { undoMs }) };
  },
});

const restore = defineRoute({
  method: "POST",
  path: "/shares/:id/restore",
  summary: "Takes back a revocation with ?undo=1, within two minutes: the same link opens the same copy",
  handler: ({ kernel, params }) => kernel.inject("shares").restore(params.id),
});

const ownPage = defineRoute({
  method: "GET",
  path: "/shares/:id/page",
  summary: "The page of an active share, as its link shows it, without counting a view; ?download=1 as a file",
  query: v.object({ download: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, params, query }) =>
    toAnswer(kernel, await kernel.inject("shares").page(params.id), query.download === "1"),
});

const page = defineRoute({
  method: "GET",
  path: "/share/:token",
  mount: "/",
  summary: "The public page of a share; ?download=1 as a file",
  handler: async ({ kernel, params, event }) => {
    const shares = kernel.inject("shares");
    const share = await shares.open(params.token);
    if (!share) return answer(NOT_FOUND_PAGE, 404, NOT_FOUND_POLICY);
    if (event.req.method === "GET") await shares.viewed(share.id);
    return toAnswer(kernel, share, event.url.searchParams.get("download") === "1");
  },
});

export const shareRoutes = [create, list, revoke, restore, ownPage, page] as const;

function toAnswer(kernel: Kernel, share: { page: string; fileName: string }, isFile: boolean): Response {
  const extra = isFile ? { "content-disposition": `attachment; filename="${share.fileName}"` } : undefined;
  return answer(share.page, 200, kernel.inject("redactor").pagePolicy(share.page), extra);
}

/** What the kernel does not set on every answer already. */
function answer(body: string, status: number, policy: string, extra?: Record<string, string>): Response {
  return new Response(body, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      "content-security-policy": policy,
      "x-robots-tag": "noindex, nofollow",
      "cache-control": "no-store",
      ...extra,
    },
  });
}
