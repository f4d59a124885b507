/** /team/api: joining, tokens, people, machines, invitations, spaces, and the access log. */
import { SessarcError } from "sessarc";
import * as v from "valibot";
import { type Caller, need, needMachine, SCOPES } from "../accounts/caller.ts";
import type { Ended } from "../accounts/leaving.ts";
import { type ApiRoute, openRoute, route } from "./route.ts";
import { addressOf, type Services } from "./services.ts";

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

export const accountRoutes: readonly ApiRoute[] = [
  openRoute({
    method: "POST",
    path: "/join",
    body: v.object({ invite: secret, name, publicKey: v.pipe(v.string(), v.maxLength(100)), machine: name }),
    handler: async ({ services, body, remote }) => {
      services.limits.join.check(remote);
      const joined = await services.invitations.join(body.invite, body.name, body.machine, body.publicKey);
      return { ...joined, address: addressOf(services) };
    },
  }),
  openRoute({
    method: "POST",
    path: "/token",
    body: v.object({
      device: id,
      at: v.pipe(v.string(), v.isoTimestamp()),
      nonce: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,64}$/, "is not 16 to 64 characters of base64url")),
      signature: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{86}$/, "is not an Ed25519 signature in base64url")),
    }),
    handler: ({ services, body, remote }) => {
      services.limits.token.check(remote);
      return services.tokens.forSignature(body, services.gate().addresses);
    },
  }),
  openRoute({
    method: "GET",
    path: "/key",
    handler: async ({ services }) => ({ publicKey: services.signing.publicKey }),
  }),
  route({ method: "GET", path: "/me", scope: "signed-in", handler: async ({ caller }) => shown(caller) }),
  route({
    method: "POST",
    path: "/open",
    scope: "read",
    handler: async ({ services, caller }) => {
      needMachine(caller);
      const { token, expires } = await services.tokens.ticket(caller);
      return { url: `${addressOf(services)}/auth/${token}`, expires };
    },
  }),
  route({
    method: "GET",
    path: "/people",
    scope: "read",
    handler: async ({ services, caller }) => {
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
  route({
    method: "DELETE",
    path: "/people/:id",
    scope: "own",
    body: v.variant("private", [
      v.object({ private: v.literal("delete") }),
      v.object({ private: v.literal("give"), to: id }),
    ]),
    handler: async ({ services, caller, params, body, remote }) => {
      const person = params.id ?? "";
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
      return { removed: true, ...countsOf(ended), sessions };
    },
  }),
  route({
    method: "GET",
    path: "/devices",
    scope: "signed-in",
    handler: async ({ services, caller }) => ({
      devices: await services.directory.devices(owns(caller) ? null : caller.person.id),
    }),
  }),
  route({
    method: "DELETE",
    path: "/devices/:id",
    scope: "signed-in",
    handler: async ({ services, caller, params, query, remote }) => {
      const known = (await services.directory.devices(owns(caller) ? null : caller.person.id)).some(
        (device) => device.id === params.id,
      );
      if (!known || params.id === undefined)
        throw new SessarcError("TEAM_NOT_FOUND", { what: "machine", id: params.id ?? "" });
      const { invited, ...ended } = await services.leaving.machine(
        params.id,
        caller.device,
        query.get("stolen") === "1",
      );
      await noteEnded(services, caller, remote, ended);
      return { revoked: true, ...countsOf(ended), invited: owns(caller) ? invited : [] };
    },
  }),
  route({
    method: "POST",
    path: "/tokens",
    scope: "read",
    body: v.object({
      name,
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365)), 90),
    }),
    handler: async ({ services, caller, body }) => {
      needMachine(caller);
      return services.tokens.forReading(caller, body.name, body.days);
    },
  }),
  route({
    method: "GET",
    path: "/tokens",
    scope: "signed-in",
    handler: async ({ services, caller }) => ({
      tokens: await services.tokens.readTokens(owns(caller) ? null : caller.person.id),
    }),
  }),
  route({
    method: "DELETE",
    path: "/tokens/:id",
    scope: "signed-in",
    handler: async ({ services, caller, params }) => {
      const known = await services.tokens.readTokens(owns(caller) ? null : caller.person.id);
      const token = known.find(({ id }) => id === params.id);
      if (!token) throw new SessarcError("TEAM_NOT_FOUND", { what: "read token", id: params.id ?? "" });
      await services.tokens.revokeReading(token.id);
      return { revoked: true };
    },
  }),
  route({
    method: "GET",
    path: "/invites",
    scope: "signed-in",
    handler: async ({ services, caller }) => {
      const invites = await services.invitations.list();
      return { invites: owns(caller) ? invites : invites.filter(({ madeBy }) => madeBy === caller.person.id) };
    },
  }),
  route({
    method: "POST",
    path: "/invites",
    scope: "signed-in",
    body: v.object({
      scopes,
      spaces: v.optional(v.pipe(v.array(space), v.maxLength(100))),
      /** The invitation is for another machine of this person. */
      person: v.optional(id),
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30)), 7),
    }),
    handler: async ({ services, caller, body }) => {
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
      return { id, link: `${addressOf(services)}/join#${code}`, expiresAt };
    },
  }),
  route({
    method: "DELETE",
    path: "/invites/:id",
    scope: "signed-in",
    handler: async ({ services, caller, params }) => {
      const known = (await services.invitations.list()).find((invite) => invite.id === params.id);
      if (!known || !(owns(caller) || known.madeBy === caller.person.id))
        throw new SessarcError("TEAM_NOT_FOUND", { what: "open invitation", id: params.id ?? "" });
      await services.invitations.revoke(known.id);
      return { revoked: true };
    },
  }),
  route({
    method: "GET",
    path: "/spaces",
    scope: "signed-in",
    handler: async ({ services, caller }) => {
      const mine = new Set(caller.spaces.map(({ id }) => id));
      const spaces = await services.directory.spaces();
      return { spaces: owns(caller) ? spaces : spaces.filter(({ id }) => mine.has(id)) };
    },
  }),
  route({
    method: "POST",
    path: "/spaces",
    scope: "own",
    body: v.object({
      name,
      kind: v.picklist(["team", "project"]),
      people: v.optional(v.pipe(v.array(id), v.maxLength(500)), []),
    }),
    handler: async ({ services, caller, body }) => {
      needMachine(caller);
      return { id: await services.directory.createSpace(body.name, body.kind, body.people) };
    },
  }),
  route({
    method: "POST",
    path: "/spaces/:id/people",
    scope: "own",
    body: v.object({ people: v.pipe(v.array(id), v.minLength(1), v.maxLength(500)) }),
    handler: async ({ services, caller, params, body }) => {
      needMachine(caller);
      await services.directory.addToSpace(numberOf(params.id), body.people);
      return { added: true };
    },
  }),
  route({
    method: "DELETE",
    path: "/spaces/:id/people",
    scope: "own",
    body: v.object({ people: v.pipe(v.array(id), v.minLength(1), v.maxLength(500)) }),
    handler: async ({ services, params, body }) => {
      for (const person of body.people) await services.directory.removeFromSpace(numberOf(params.id), person);
      return { removed: true };
    },
  }),
  route({
    method: "GET",
    path: "/access",
    scope: "signed-in",
    handler: async ({ services, caller, query }) => {
      const before = Number(query.get("before") ?? Number.NaN);
      const limit = Number(query.get("limit") ?? 100);
      const person = owns(caller) ? query.get("person") : caller.person.id;
      return {
        entries: await services.access.list(
          person,
          Number.isFinite(before) ? before : Number.MAX_SAFE_INTEGER,
          Number.isInteger(limit) ? Math.min(Math.max(limit, 1), 1_000) : 100,
        ),
      };
    },
  }),
];

const countsOf = ({ machines, invitations, tokens }: Ended) => ({
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

const numberOf = (text: string | undefined): number => {
  if (text === undefined || !/^\d{1,10}$/.test(text))
    throw new SessarcError("TEAM_NOT_FOUND", { what: "space", id: text ?? "" });
  return Number(text);
};
