/** Routes of the machine that pushes. Their code is loaded with the first request. */
import { defineRoute, type Kernel } from "sessarc";
import * as v from "valibot";
import type { EndedMachine, EndedPerson, Invitation, ReadToken, SharedSpace } from "../wire/answers.ts";
import type { AccessLog, MadeToken, TeamPeople, TeamStatus, Withdrawal } from "./client.ts";
import type { PushReport } from "./push.ts";

const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(300));
const names = v.pipe(v.array(name), v.maxLength(1_000));
const server = v.optional(name);

const readClient = (kernel: Kernel) => kernel.inject("team").client();

export const clientRoutes = [
  defineRoute({
    method: "GET",
    path: "/team",
    summary:
      "Team servers this machine has joined: spaces, chosen projects, what was pushed; `ask=1` asks them for spaces",
    query: v.object({ ask: v.optional(v.picklist(["0", "1"])) }),
    handler: async ({ kernel, query }): Promise<TeamStatus> =>
      (await readClient(kernel)).status({ ask: query.ask === "1" }),
  }),
  defineRoute({
    method: "POST",
    path: "/team/join",
    summary: "Join a team by an invitation link; the key of this machine is made here and stays here",
    body: v.object({ link: name, name: v.optional(name), machine: v.optional(name), space: v.optional(name) }),
    handler: async ({ kernel, body }): Promise<TeamStatus> => (await readClient(kernel)).join(body.link, body),
  }),
  defineRoute({
    method: "PUT",
    path: "/team/projects",
    summary: "Choose projects that may be pushed, and the space they go to; or take them back",
    body: v.object({
      server,
      add: v.optional(names),
      remove: v.optional(names),
      space: v.optional(name),
      /** `space` is where projects go from now on that are chosen without one. */
      usual: v.optional(v.boolean()),
    }),
    handler: async ({ kernel, body }): Promise<TeamStatus> => (await readClient(kernel)).choose(body),
  }),
  defineRoute({
    method: "POST",
    path: "/team/push",
    summary:
      "Push what the server lacks of the chosen projects; `dryRun`: what would leave. With `Accept: text/event-stream` progress comes as events",
    body: v.object({
      server,
      projects: v.optional(names),
      sessions: v.optional(names),
      /** ISO time: sessions that ended before are left out. */
      since: v.optional(v.pipe(v.string(), v.isoTimestamp())),
      dryRun: v.optional(v.boolean()),
      /** Withdrawn sessions, too. */
      again: v.optional(v.boolean()),
    }),
    handler: async (context): Promise<PushReport | Response> => {
      const { answerPush } = await import("./answer.ts");
      return answerPush(await readClient(context.kernel), context);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/team/pushed",
    summary: "Which servers have how many of these sessions, with their sub-agents, or of a project's",
    body: v.pipe(
      v.object({ sessions: v.optional(v.pipe(v.array(name), v.maxLength(20_000))), project: v.optional(name) }),
      v.check((body) => (body.sessions === undefined) !== (body.project === undefined), "Name sessions or a project"),
    ),
    handler: async ({ kernel, body }): Promise<{ servers: { address: string; sessions: number }[] }> => ({
      servers: await kernel.inject("team").pushedOf(body),
    }),
  }),
  defineRoute({
    method: "POST",
    path: "/team/withdraw",
    summary: "Remove sessions, or all of a project, from the server; answers its signed receipt",
    body: v.pipe(
      v.object({ server, sessions: v.optional(names), project: v.optional(name) }),
      v.check((body) => Boolean(body.sessions?.length ?? body.project), "Name sessions or a project"),
    ),
    handler: async ({ kernel, body }): Promise<Withdrawal> => (await readClient(kernel)).withdraw(body),
  }),
  defineRoute({
    method: "POST",
    path: "/team/open",
    summary: "A one-time link into the team's dashboard",
    body: v.object({ server }),
    handler: async ({ kernel, body }): Promise<{ url: string; expires: string }> =>
      (await readClient(kernel)).open(body.server),
  }),
  defineRoute({
    method: "POST",
    path: "/team/invites",
    summary: "An invitation link for a person, or for another machine of this one",
    body: v.object({
      server,
      scopes: v.optional(v.pipe(v.array(v.picklist(["push", "read", "own"])), v.minLength(1))),
      spaces: v.optional(names),
      mine: v.optional(v.boolean()),
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30))),
    }),
    handler: async ({ kernel, body }): Promise<Invitation> => (await readClient(kernel)).invite(body),
  }),
  defineRoute({
    method: "GET",
    path: "/team/people",
    summary: "People, machines and spaces of the team, as far as this person may see them",
    query: v.object({ server }),
    handler: async ({ kernel, query }): Promise<TeamPeople> => (await readClient(kernel)).people(query.server),
  }),
  defineRoute({
    method: "GET",
    path: "/team/access",
    summary: "The newest requests to the team's server: of all people for an owner, else this person's",
    query: v.object({
      server,
      person: v.optional(name),
      limit: v.optional(v.pipe(v.string(), v.regex(/^([1-9]\d{0,2}|1000)$/, "must be 1 to 1000"), v.transform(Number))),
    }),
    handler: async ({ kernel, query }): Promise<AccessLog> =>
      (await readClient(kernel)).access(query.server, query.person, query.limit ?? 50),
  }),
  defineRoute({
    method: "POST",
    path: "/team/spaces",
    summary: "Create a space, or add people to one",
    body: v.object({ server, name, people: v.optional(names, []) }),
    handler: async ({ kernel, body }): Promise<{ spaces: SharedSpace[] }> => ({
      spaces: await (await readClient(kernel)).space(body),
    }),
  }),
  defineRoute({
    method: "POST",
    path: "/team/revoke",
    summary:
      "End a machine's access to the team at once, with its tokens and invitations; what it pushed stays. `stolen`: also its person's machines that joined by its invitations",
    body: v.object({ server, device: name, stolen: v.optional(v.boolean(), false) }),
    handler: async ({ kernel, body }): Promise<EndedMachine> =>
      (await readClient(kernel)).revoke(body.server, body.device, body.stolen),
  }),
  defineRoute({
    method: "POST",
    path: "/team/remove",
    summary: "End a person's access to the team at once; the private space goes to another person, or is deleted",
    body: v.pipe(
      v.object({ server, person: name, give: v.optional(name), delete: v.optional(v.boolean(), false) }),
      v.check((body) => (body.give !== undefined) !== body.delete, "Pass `give` or `delete` for the private space"),
    ),
    handler: async ({ kernel, body }): Promise<EndedPerson> =>
      (await readClient(kernel)).removePerson(body.server, body.person, body.give),
  }),
  defineRoute({
    method: "POST",
    path: "/team/tokens",
    summary: "A token that only reads, for MCP clients; it is shown once",
    body: v.object({
      server,
      name: v.optional(v.pipe(name, v.maxLength(100))),
      /** Default 90. */
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365))),
    }),
    handler: async ({ kernel, body }): Promise<MadeToken> => (await readClient(kernel)).makeToken(body),
  }),
  defineRoute({
    method: "GET",
    path: "/team/tokens",
    summary: "Read tokens of this person, or of all people for an owner",
    query: v.object({ server }),
    handler: async ({ kernel, query }): Promise<{ tokens: ReadToken[] }> =>
      (await readClient(kernel)).tokens(query.server),
  }),
  defineRoute({
    method: "POST",
    path: "/team/tokens/revoke",
    summary: "End a read token at once",
    body: v.object({ server, token: name }),
    handler: async ({ kernel, body }): Promise<{ revoked: true }> =>
      (await readClient(kernel)).revokeToken(body.server, body.token),
  }),
  defineRoute({
    method: "POST",
    path: "/team/leave",
    summary: "Forget a team's server and the key for it; what was pushed stays there",
    body: v.object({ server }),
    handler: async ({ kernel, body }): Promise<{ address: string; pushed: number }> =>
      (await readClient(kernel)).leave(body.server),
  }),
] as const;
