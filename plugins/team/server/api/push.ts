/** /team/api: receiving sessions and removing them again. */
import { canonicalJson, type Database, defineRoute, marks, pages, SessarcError } from "sessarc";
import { validate } from "sessarc/serve";
import * as v from "valibot";
import { toDigest } from "../../manifest.ts";
import { ANSWERS } from "../../wire/answers.ts";
import { MOST_PACKED } from "../blobs.ts";
import { idHere } from "../ingest/adapters.ts";
import { checkManifest } from "../ingest/limits.ts";
import { manifestSchema, sessionId, sha256 } from "../ingest/manifest-schema.ts";
import { type Access, readCaller } from "./route.ts";
import { toAddress } from "./services.ts";

/** Sessions of one question. */
const MOST = 1_000;
/** Bytes of a manifest: quarter-hours of a session that ran for a year are some MB. */
const MANIFEST_BYTES = 4 * 2 ** 20;

const space = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

export const pushRoutes = [
  defineRoute({
    method: "POST",
    path: "/team/api/have",
    mount: "/",
    summary: "Which of these sessions are missing, and which were withdrawn",
    meta: { scope: "push", places: "bodies" } satisfies Access,
    limits: { bytes: 2 ** 20 },
    response: ANSWERS["POST /have"],
    body: v.object({
      sessions: v.pipe(
        v.array(v.object({ id: sessionId, digest: sha256, space: v.optional(space) })),
        v.maxLength(MOST),
      ),
    }),
    handler: async ({ kernel, event, body }) => {
      const {
        services: { database, tenant },
        caller,
      } = readCaller(kernel, event);

      const ids = body.sessions.map(({ id }) => idHere(caller.machine, id));
      const [have, withdrawn] = [
        await stored(database.owner, tenant, ids),
        await readWithdrawn(database.owner, tenant, ids),
      ];
      const missing: string[] = [];
      const gone: string[] = [];
      for (const { id, digest, space } of body.sessions) {
        const here = idHere(caller.machine, id);
        const known = have.get(here);
        if (withdrawn.has(here)) gone.push(id);
        else if (known?.digest !== digest || (space !== undefined && known.space !== space)) missing.push(id);
      }
      return { missing, withdrawn: gone };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/blobs/have",
    mount: "/",
    summary: "Which of these chunks are missing",
    meta: { scope: "push", places: "bodies" } satisfies Access,
    limits: { bytes: 2 ** 20 },
    response: ANSWERS["POST /blobs/have"],
    body: v.object({ sha256: v.pipe(v.array(sha256), v.maxLength(10_000)) }),
    handler: async ({ kernel, event, body }) => {
      const { services, caller } = readCaller(kernel, event);
      return {
        missing: await services.blobs.missing(caller.person.id, body.sha256),
      };
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/team/api/blobs/:sha256",
    mount: "/",
    summary: "Store a chunk",
    meta: { scope: "push", places: "bodies" } satisfies Access,
    limits: { bytes: MOST_PACKED, type: "application/gzip" },
    params: v.object({ sha256 }),
    body: v.instance(Uint8Array),
    response: ANSWERS["PUT /blobs/:sha256"],
    handler: async ({ kernel, event, params, body }) => {
      const { services, caller } = readCaller(kernel, event);

      await services.blobs.put(caller.person.id, params.sha256, body);
      return { stored: true as const };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/sessions",
    mount: "/",
    summary: "Store a session; answered after its commit",
    meta: { scope: "push", places: "pushes" } satisfies Access,
    limits: { bytes: MANIFEST_BYTES },
    response: ANSWERS["POST /sessions"],
    body: v.object({ space, manifest: v.looseObject({}), again: v.optional(v.boolean(), false) }),
    handler: async ({ kernel, event, body, signal }) => {
      const { services, caller } = readCaller(kernel, event);

      if (!caller.spaces.some(({ id }) => id === body.space))
        throw new SessarcError("TEAM_NOT_FOUND", { what: "space", id: String(body.space) });
      checkManifest(body.manifest);
      const manifest = await validate(manifestSchema, body.manifest, "manifest");
      // Of what was sent: the machine compares it with its own.
      const digest = toDigest(body.manifest);
      const push = { person: caller.person.id, machine: caller.machine, space: body.space, manifest, digest };
      const { id: _, ...outcome } = await services.ingest.push(push, body.again, signal);
      services.metrics.pushes[outcome.outcome]++;
      if (outcome.outcome === "imported" && services.rereading.isOutdated(manifest.tool, manifest))
        services.rereading.wake();
      return { id: manifest.id, ...outcome };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/logs",
    mount: "/",
    summary: "Logs that an older adapter read",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /logs"],
    handler: async ({ kernel, event }) => {
      const {
        services: { rereading },
        caller,
      } = readCaller(kernel, event);

      const spaces = caller.spaces.map(({ id }) => id);
      return { ...(await rereading.state()), problems: await rereading.problems(spaces, MOST_PROBLEMS) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/withdraw",
    mount: "/",
    summary: "Remove sessions everywhere; answers a signed receipt",
    meta: { scope: "push", places: "bodies" } satisfies Access,
    limits: { bytes: 2 ** 20 },
    response: ANSWERS["POST /withdraw"],
    body: v.object({
      ids: v.pipe(v.array(sessionId), v.minLength(1), v.maxLength(MOST)),
      /** Another machine of the same person: one that was lost cannot withdraw anything. */
      machine: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/, "is not a machine of this server"))),
    }),
    handler: async ({ kernel, event, body }) => {
      const { services, caller } = readCaller(kernel, event);

      const machine = body.machine ?? caller.machine;
      const mine = await services.directory.devices(caller.person.id);
      if (!mine.some((device) => device.machine === machine))
        throw new SessarcError("TEAM_NOT_FOUND", { what: "machine of yours", id: machine });
      const removed = await services.ingest.withdraw(caller.person.id, machine, body.ids);
      services.metrics.pushes.withdrawn += removed.length;
      const { signing } = services;
      const receipt = canonicalJson({
        address: toAddress(services),
        person: caller.person.id,
        device: caller.device,
        removed,
        at: new Date().toISOString(),
      });
      return { removed, receipt, signature: signing.sign(receipt), publicKey: signing.publicKey };
    },
  }),
] as const;

/** Sessions whose log could not be parsed again that are named. */
const MOST_PROBLEMS = 100;

/** Ids of one query. */
const TOGETHER = 500;

async function stored(
  db: Database,
  tenant: number,
  ids: readonly string[],
): Promise<Map<string, { digest: string; space: number }>> {
  const found = new Map<string, { digest: string; space: number }>();
  for (const page of pages(ids, TOGETHER)) {
    const rows = await db.all<{ session: string; digest: string; space: number }>(
      `select session, digest, space from team_session where tenant = ? and session in (${marks(page)})`,
      [tenant, ...page],
    );
    for (const { session, ...row } of rows) found.set(session, row);
  }
  return found;
}

async function readWithdrawn(db: Database, tenant: number, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const page of pages(ids, TOGETHER)) {
    const rows = await db.all<{ session: string }>(
      `select session from team_withdrawn where tenant = ? and session in (${marks(page)})`,
      [tenant, ...page],
    );
    for (const { session } of rows) found.add(session);
  }
  return found;
}
