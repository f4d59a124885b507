/** /team/api: joining, tokens, people, machines, invitations, spaces, and the access log. */
import { defineRoute, SessarcError } from "sessarc";
import * as v from "valibot";
import { ANSWERS } from "../../wire/answers.ts";
import { type Caller, need, needMachine, SCOPES } from "../accounts/caller.ts";
import type { Ended } from "../accounts/leaving.ts";
import { type Access, readAsked, readCaller } from "./route.ts";
import { type Services, toAddress } from "./services.ts";

const name = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty(),
  v.maxLength(100),
  v.regex(/^[^\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+$/u, "has control characters or marks of direction"),
);
const secret = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, "is not a code of this server"));
const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{8,32}$/, "is not an id of this server"));
const space = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const scopes = v.pipe(v.array(v.picklist(SCOPES)), v.minLength(1), v.maxLength(3));
const owns = (caller: Caller) => caller.scopes.includes("own");

/** What the person sees of itself. */
const shown = ({ person, device, machine, scopes, spaces }: Caller) => ({ person, device, machine, scopes, spaces });

/** Bytes of a body. */
const BODY = 64 * 2 ** 10;

export const accountRoutes = [
  defineRoute({
    method: "POST",
    path: "/team/api/join",
    mount: "/",
    summary: "Join with an invitation: a person, or another machine of one",
    meta: { scope: "open" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /join"],
    body: v.object({ invite: secret, name, publicKey: v.pipe(v.string(), v.maxLength(100)), machine: name }),
    handler: async ({ kernel, event, body }) => {
      const { services, remote } = readAsked(kernel, event);

      services.limits.join.check(remote);
      const joined = await services.invitations.join(body.invite, body.name, body.machine, body.publicKey);
      return { ...joined, address: toAddress(services) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/token",
    mount: "/",
    summary: "A token for ten minutes, for a machine's signature",
    meta: { scope: "open" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /token"],
    body: v.object({
      device: id,
      at: v.pipe(v.string(), v.isoTimestamp()),
      nonce: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,64}$/, "is not 16 to 64 characters of base64url")),
      signature: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{86}$/, "is not an Ed25519 signature in base64url")),
    }),
    handler: ({ kernel, event, body }) => {
      const { services, remote } = readAsked(kernel, event);

      services.limits.token.check(remote);
      return services.tokens.forSignature(body, services.gate().addresses);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/key",
    mount: "/",
    summary: "The key that signs receipts",
    meta: { scope: "open" } satisfies Access,
    response: ANSWERS["GET /key"],
    handler: async ({ kernel, event }) => {
      const { services } = readAsked(kernel, event);
      return { publicKey: services.signing.publicKey };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/me",
    mount: "/",
    summary: "Who asks, and what they may",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /me"],
    handler: async ({ kernel, event }) => {
      const { caller } = readCaller(kernel, event);
      return shown(caller);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/open",
    mount: "/",
    summary: "A link that signs a browser in, good once",
    meta: { scope: "read" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /open"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);

      needMachine(caller);
      const { token, expires } = await services.tokens.ticket(caller);
      return { url: `${toAddress(services)}/auth/${token}`, expires };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/people",
    mount: "/",
    summary: "People of the team",
    meta: { scope: "read" } satisfies Access,
    response: ANSWERS["GET /people"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);

      const people = await services.directory.people();
      // Who is in which space is for owners; the others see the spaces that they share.
      const mine = new Set(caller.spaces.map(({ id }) => id));
      const present = new Set(people.map(({ id }) => id));
      const former = owns(caller) ? [...(await services.directory.names())].filter(([id]) => !present.has(id)) : [];
      return {
        former: former.map(([id, name]) => ({ id, name })),
        people: people.map((person) => ({
          ...person,
          spaces: owns(caller) ? person.spaces : person.spaces.filter((one) => mine.has(one)),
        })),
      };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/team/api/people/:id",
    mount: "/",
    summary: "Remove a person; the private space is deleted, or given to another one",
    meta: { scope: "own" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["DELETE /people/:id"],
    body: v.variant("private", [
      v.object({ private: v.literal("delete") }),
      v.object({ private: v.literal("give"), to: id }),
    ]),
    handler: async ({ kernel, event, params, body }) => {
      const { services, caller, remote } = readCaller(kernel, event);

      const person = params.id;
      if (body.private === "give") {
        needMachine(caller);
        if (body.to === person) throw new SessarcError("INVALID_INPUT", { reason: "`to` is the person to be removed" });
        await services.directory.checkPeople([body.to]);
      }
      const ended = await services.leaving.person(person);
      await noteEnded(services, caller, remote, ended);
      const space = await services.leaving.privateSpace(person);
      let sessions = 0;
      if (space !== undefined && body.private === "give") await services.leaving.give(space, person, body.to);
      else if (space !== undefined) sessions = await deleteSpace(services, space);
      return { removed: true as const, ...toCounts(ended), sessions };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/devices",
    mount: "/",
    summary: "Machines: one's own, or all for owners",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /devices"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);
      return {
        devices: await services.directory.devices(owns(caller) ? null : caller.person.id),
      };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/team/api/devices/:id",
    mount: "/",
    summary: "End a machine's access",
    meta: { scope: "signed-in" } satisfies Access,
    limits: { bytes: BODY },
    query: v.object({ stolen: v.optional(v.string()) }),
    response: ANSWERS["DELETE /devices/:id"],
    handler: async ({ kernel, event, params, query }) => {
      const { services, caller, remote } = readCaller(kernel, event);

      const known = (await services.directory.devices(owns(caller) ? null : caller.person.id)).some(
        (device) => device.id === params.id,
      );
      if (!known) throw new SessarcError("TEAM_NOT_FOUND", { what: "machine", id: params.id });
      const { invited, ...ended } = await services.leaving.machine(params.id, caller.device, query.stolen === "1");
      await noteEnded(services, caller, remote, ended);
      return { revoked: true as const, ...toCounts(ended), invited: owns(caller) ? invited : [] };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/tokens",
    mount: "/",
    summary: "Make a token that only reads",
    meta: { scope: "read" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /tokens"],
    body: v.object({
      name,
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365)), 90),
    }),
    handler: async ({ kernel, event, body }) => {
      const { services, caller } = readCaller(kernel, event);

      needMachine(caller);
      return services.tokens.forReading(caller, body.name, body.days);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/tokens",
    mount: "/",
    summary: "Read tokens: one's own, or all for owners",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /tokens"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);
      return {
        tokens: await services.tokens.readTokens(owns(caller) ? null : caller.person.id),
      };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/team/api/tokens/:id",
    mount: "/",
    summary: "End a read token",
    meta: { scope: "signed-in" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["DELETE /tokens/:id"],
    handler: async ({ kernel, event, params }) => {
      const { services, caller } = readCaller(kernel, event);

      const known = await services.tokens.readTokens(owns(caller) ? null : caller.person.id);
      const token = known.find(({ id }) => id === params.id);
      if (!token) throw new SessarcError("TEAM_NOT_FOUND", { what: "read token", id: params.id });
      await services.tokens.revokeReading(token.id);
      return { revoked: true as const };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/invites",
    mount: "/",
    summary: "Invitations: one's own, or all for owners",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /invites"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);

      const invites = await services.invitations.list();
      return { invites: owns(caller) ? invites : invites.filter(({ madeBy }) => madeBy === caller.person.id) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/invites",
    mount: "/",
    summary: "Invite a person, or another machine of one's own",
    meta: { scope: "signed-in" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /invites"],
    body: v.object({
      scopes,
      spaces: v.optional(v.pipe(v.array(space), v.maxLength(100))),
      /** The invitation is for another machine of this person. */
      person: v.optional(id),
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30)), 7),
    }),
    handler: async ({ kernel, event, body }) => {
      const { services, caller } = readCaller(kernel, event);

      needMachine(caller);
      const self = body.person === caller.person.id;
      if (!self) need(caller, "own");
      // An invitation gives no right that its maker does not have.
      for (const scope of body.scopes) need(caller, scope);
      const shared = await services.directory.spaces();
      const spaces = body.spaces ?? shared.flatMap(({ id, kind }) => (kind === "team" ? id : []));
      const { id, code, expiresAt } = await services.invitations.create(
        { scopes: body.scopes, spaces: self ? [] : spaces, person: body.person ?? null, days: body.days },
        { person: caller.person.id, device: caller.device },
      );
      return { id, link: `${toAddress(services)}/join#${code}`, expiresAt };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/team/api/invites/:id",
    mount: "/",
    summary: "Revoke an invitation",
    meta: { scope: "signed-in" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["DELETE /invites/:id"],
    handler: async ({ kernel, event, params }) => {
      const { services, caller } = readCaller(kernel, event);

      const known = (await services.invitations.list()).find((invite) => invite.id === params.id);
      if (!known || !(owns(caller) || known.madeBy === caller.person.id))
        throw new SessarcError("TEAM_NOT_FOUND", { what: "open invitation", id: params.id });
      await services.invitations.revoke(known.id);
      return { revoked: true as const };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/spaces",
    mount: "/",
    summary: "Spaces and who is in them",
    meta: { scope: "signed-in" } satisfies Access,
    response: ANSWERS["GET /spaces"],
    handler: async ({ kernel, event }) => {
      const { services, caller } = readCaller(kernel, event);

      const mine = new Set(caller.spaces.map(({ id }) => id));
      const spaces = await services.directory.spaces();
      return { spaces: owns(caller) ? spaces : spaces.filter(({ id }) => mine.has(id)) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/spaces",
    mount: "/",
    summary: "Make a space",
    meta: { scope: "own" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /spaces"],
    body: v.object({
      name,
      kind: v.picklist(["team", "project"]),
      people: v.optional(v.pipe(v.array(id), v.maxLength(500)), []),
    }),
    handler: async ({ kernel, event, body }) => {
      const { services, caller } = readCaller(kernel, event);

      needMachine(caller);
      return { id: await services.directory.createSpace(body.name, body.kind, body.people) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/api/spaces/:id/people",
    mount: "/",
    summary: "Add people to a space",
    meta: { scope: "own" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["POST /spaces/:id/people"],
    body: v.object({ people: v.pipe(v.array(id), v.minLength(1), v.maxLength(500)) }),
    handler: async ({ kernel, event, params, body }) => {
      const { services, caller } = readCaller(kernel, event);

      needMachine(caller);
      await services.directory.addToSpace(toNumber(params.id), body.people);
      return { added: true as const };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/team/api/spaces/:id/people",
    mount: "/",
    summary: "Remove people from a space",
    meta: { scope: "own" } satisfies Access,
    limits: { bytes: BODY },
    response: ANSWERS["DELETE /spaces/:id/people"],
    body: v.object({ people: v.pipe(v.array(id), v.minLength(1), v.maxLength(500)) }),
    handler: async ({ kernel, event, params, body }) => {
      const { services } = readCaller(kernel, event);

      for (const person of body.people) await services.directory.removeFromSpace(toNumber(params.id), person);
      return { removed: true as const };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/access",
    mount: "/",
    summary: "The access log, newest first",
    meta: { scope: "signed-in" } satisfies Access,
    query: v.object({ before: v.optional(v.string()), limit: v.optional(v.string()), person: v.optional(v.string()) }),
    response: ANSWERS["GET /access"],
    handler: async ({ kernel, event, query }) => {
      const { services, caller } = readCaller(kernel, event);

      const before = Number(query.before ?? Number.NaN);
      const limit = Number(query.limit ?? 100);
      const person = owns(caller) ? (query.person ?? null) : caller.person.id;
      return {
        entries: await services.access.list(
          person,
          Number.isFinite(before) ? before : Number.MAX_SAFE_INTEGER,
          Number.isInteger(limit) ? Math.min(Math.max(limit, 1), 1_000) : 100,
        ),
      };
    },
  }),
] as const;

const toCounts = ({ machines, invitations, tokens }: Ended) => ({
  machines: machines.map(({ id, name }) => ({ id, name })),
  invitations: invitations.length,
  tokens: tokens.length,
});

/** The request alone would not say which machines, invitations and tokens ended with it. */
async function noteEnded(services: Services, caller: Caller, remote: string, ended: Ended): Promise<void> {
  const paths = [
    ...ended.machines.map(({ id }) => `/machines/${id}`),
    ...ended.invitations.map((id) => `/invitations/${id}`),
    ...ended.tokens.map((id) => `/tokens/${id}`),
  ];
  const by = { person: caller.person.id, device: caller.device, remote };
  await Promise.all(
    paths.map((path) => services.access.add({ ...by, at: Date.now(), method: "END", path, status: 200, code: null })),
  );
}

/** Removes the sessions of a space, and then the space. Answers how many sessions there were. */
async function deleteSpace({ leaving, ingest }: Services, space: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const sessions = await leaving.sessionsIn(space);
    if (sessions.length === 0) break;
    const byMachine = new Map<string, { person: string; machine: string; ids: string[] }>();
    for (const { session, person, machine } of sessions) {
      const one = byMachine.get(machine) ?? { person, machine, ids: [] };
      byMachine.set(machine, one);
      one.ids.push(session.replace(`:${machine}~`, ":"));
    }
    for (const { person, machine, ids } of byMachine.values()) await ingest.withdraw(person, machine, ids);
    removed += sessions.length;
  }
  await leaving.removeSpace(space);
  return removed;
}

const toNumber = (text: string | undefined): number => {
  if (text === undefined || !/^\d{1,10}$/.test(text))
    throw new SessarcError("TEAM_NOT_FOUND", { what: "space", id: text ?? "" });
  return Number(text);
};
