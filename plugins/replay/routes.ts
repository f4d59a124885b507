/** Routes of replay. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const seq = v.pipe(v.number(), v.integer(), v.minValue(0));
const session = v.pipe(v.string(), v.minLength(1));

const plan = defineRoute({
  method: "GET",
  path: "/sessions/:id/replay-plan",
  summary: "Steps of a session that can be gone through again, with their state",
  handler: ({ kernel, params }) => kernel.inject("replay").plan(params.id),
});

const start = defineRoute({
  method: "POST",
  path: "/replay/start",
  summary: "Makes the sandbox from the commit the session began at; an earlier one of this session goes",
  body: v.strictObject({ sessionId: session, allowUnisolated: v.optional(v.boolean()) }),
  handler: ({ kernel, body }) => kernel.inject("replay").start(body.sessionId, body.allowUnisolated === true),
});

const preview = defineRoute({
  method: "GET",
  path: "/replay/preview",
  summary: "What a step would do to the sandbox as it is",
  query: v.strictObject({
    sessionId: session,
    seq: v.pipe(v.string(), v.regex(/^\d{1,9}$/, "is no message number"), v.transform(Number)),
    source: v.optional(session),
  }),
  handler: ({ kernel, query }) => kernel.inject("replay").preview(query.sessionId, query.seq, query.source ?? null),
});

const step = defineRoute({
  method: "POST",
  path: "/replay/step",
  summary: "Does one step in the sandbox; a command needs its exact text as confirmCommand",
  body: v.strictObject({
    sessionId: session,
    seq,
    source: v.optional(v.nullable(session)),
    /** Anything but the exact text is COMMAND_NOT_CONFIRMED, `true` included. */
    confirmCommand: v.optional(v.unknown()),
    skip: v.optional(v.boolean()),
    outOfOrder: v.optional(v.boolean()),
    timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(600_000))),
  }),
  handler: ({ kernel, body: { sessionId, ...request } }) => kernel.inject("replay").step(sessionId, request),
});

const back = defineRoute({
  method: "POST",
  path: "/replay/back",
  summary: "Takes the last step back",
  body: v.strictObject({ sessionId: session, seq: v.optional(seq), source: v.optional(v.nullable(session)) }),
  handler: ({ kernel, body }) => kernel.inject("replay").back(body.sessionId, body.seq, body.source ?? null),
});

const result = defineRoute({
  method: "GET",
  path: "/replay/result",
  summary: "The sandbox beside the commit the session led to, file by file",
  query: v.strictObject({ sessionId: session }),
  handler: ({ kernel, query }) => kernel.inject("replay").endState(query.sessionId),
});

const open = defineRoute({
  method: "POST",
  path: "/replay/open",
  summary: "Opens the sandbox in the file browser",
  body: v.strictObject({ sessionId: session }),
  handler: ({ kernel, body }) => kernel.inject("replay").open(body.sessionId),
});

const withPlan = defineRoute({
  method: "GET",
  path: "/replay/with",
  summary: "The prompts of a session that another assistant would be given, and the result of its last run",
  query: v.object({ sessionId: session }),
  handler: ({ kernel, query }) => kernel.inject("replay").rerunPlan(query.sessionId),
});

const line = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(10_000, "is too long"));

const runWith = defineRoute({
  method: "POST",
  path: "/replay/with",
  summary:
    "Begins to give a session's prompts to an assistant that the user names; needs the exact command as confirmCommand",
  body: v.strictObject({
    sessionId: session,
    command: line,
    followUp: v.optional(line),
    confirmCommand: v.optional(v.unknown()),
    network: v.optional(v.boolean()),
    env: v.optional(v.pipe(v.array(v.string()), v.maxLength(50, "are more than 50"))),
    readable: v.optional(v.pipe(v.array(line), v.maxLength(50, "are more than 50"))),
    allowUnisolated: v.optional(v.boolean()),
    timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(3_600_000))),
  }),
  handler: ({ kernel, body: { sessionId, ...request } }) => kernel.inject("replay").startRerun(sessionId, request),
});

const stopWith = defineRoute({
  method: "POST",
  path: "/replay/with/stop",
  summary: "Ends the run of an assistant that is under way",
  body: v.strictObject({ sessionId: session }),
  handler: ({ kernel, body }) => kernel.inject("replay").stopRerun(body.sessionId),
});

export const replayRoutes = [plan, start, preview, step, back, result, open, withPlan, runWith, stopWith] as const;
