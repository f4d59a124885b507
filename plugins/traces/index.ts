/** Traces: sessions whose logs were deleted before they were archived, by the lists of prompts that assistants keep beside their logs. */
import {
  defineErrors,
  definePlugin,
  defineRoute,
  isSessarcError,
  type Kernel,
  type RoutesOf,
  type Services,
  SessarcError,
} from "sessarc";
import * as v from "valibot";
import type { TracesContract } from "./contract.ts";
import { type LoneDay, readDays } from "./days.ts";
import { migrations } from "./schema.ts";
import { createTraces } from "./traces.ts";

export type { ListedPrompt, ToolDay } from "./contract.ts";
export type { LoneDay } from "./days.ts";

type Traces = Services["traces"];
type Trace = Awaited<ReturnType<Traces["list"]>>[number];
type TracePrompt = NonNullable<ReturnType<Awaited<ReturnType<Traces["prompts"]>>["get"]>>[number];

const PAGE = 50;
/** Local, included. */
const day = v.optional(v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/, "must be a day such as 2026-11-20")));

export const errors = defineErrors({
  TRACE_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `There is no trace of a session ${JSON.stringify(id)}`,
    fix: () => "GET /traces lists the sessions of which the prompts are left.",
  },
});

export const routes = [
  defineRoute({
    method: "GET",
    path: "/traces",
    summary: "Sessions of which only the prompts are left, newest first; they are in no total and no figure",
    query: v.object({
      tool: v.optional(v.string()),
      limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,3}$/, "must be 0 to 999"), v.transform(Number))),
      offset: v.optional(v.pipe(v.string(), v.regex(/^\d{1,7}$/, "must be a whole number"), v.transform(Number))),
    }),
    handler: async ({ kernel, query: { tool, limit = PAGE, offset = 0 } }) => {
      if (tool !== undefined) await kernel.inject("archive").checkTool(tool);
      const all = await kernel.inject("traces").list({ tool });
      return {
        sessions: all.length,
        prompts: all.reduce((sum, { prompts }) => sum + prompts, 0),
        traces: all.slice(offset, offset + limit),
      };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/traces/days",
    summary: "Days that only an assistant's own statistics know, newest first; they are in no total and no figure",
    query: v.object({ from: day, to: day }),
    handler: async ({ kernel, query }): Promise<{ days: LoneDay[] }> => ({ days: await readDays(kernel, query) }),
  }),
  defineRoute({
    method: "GET",
    path: "/traces/:id",
    summary: "The prompts of a session whose log is gone, and the commits of that time; `redacted=1` masks secrets",
    query: v.object({ redacted: v.optional(v.picklist(["0", "1"])) }),
    handler: async ({ kernel, params: { id }, query }): Promise<WholeTrace> => {
      const traces = kernel.inject("traces");
      const trace = await traces.find(id);
      if (!trace) throw new SessarcError("TRACE_NOT_FOUND", { id });
      const messages = (await traces.prompts([id])).get(id) ?? [];
      const commits = await commitsOf(kernel, trace);
      if (query.redacted !== "1") return { trace, messages, commits };
      const { title } = kernel.inject("redactor");
      const masked = (text: string) => title(text, Number.POSITIVE_INFINITY);
      return {
        trace: { ...trace, title: trace.title && (await masked(trace.title)) },
        messages: await Promise.all(messages.map(async (one) => ({ ...one, text: await masked(one.text) }))),
        commits: await Promise.all(commits.map(async (one) => ({ ...one, subject: await masked(one.subject) }))),
      };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/traces/:id",
    summary: "Forget the prompts of such a session; they are not read again",
    handler: async ({ kernel, params: { id } }): Promise<{ deleted: string }> => {
      const traces = kernel.inject("traces");
      if (!(await traces.find(id))) throw new SessarcError("TRACE_NOT_FOUND", { id });
      await traces.remove(id);
      return { deleted: id };
    },
  }),
] as const;

interface WholeTrace {
  trace: Trace;
  messages: TracePrompt[];
  commits: { hash: string; at: string; subject: string }[];
}

/** How long after its last prompt a session may still have committed. */
const AFTER = 3_600_000;

/** Commits of the session's folder from its first prompt on, oldest first; none without a repository. */
async function commitsOf(kernel: Kernel, { cwd, startedAt, endedAt }: Trace): Promise<WholeTrace["commits"]> {
  const git = kernel.find("git");
  if (!git || cwd === null || startedAt === null || endedAt === null) return [];
  if ((await git.identity(cwd)).kind !== "repository") return [];
  try {
    const last = await git.commitAt(cwd, new Date(Date.parse(endedAt) + AFTER).toISOString());
    if (!last.commit) return [];
    const before = await git.commitAt(cwd, startedAt);
    const commits = [last.commit.hash, ...(before.commit ? [`^${before.commit.hash}`] : [])];
    const patches = await git.patches(cwd, { commits, wants: () => false });
    return patches.map(({ hash, at, subject }) => ({ hash, at, subject }));
  } catch (error) {
    if (isSessarcError(error) && error.status < 500) return []; // a damaged or shallow clone: the prompts are what was asked for
    throw error;
  }
}

export default definePlugin({
  name: "traces",
  dependsOn: ["archive"],
  routes,
  migrations,
  setup(kernel) {
    kernel.provide("traces", createTraces(kernel));
    kernel.hooks.hook("archive:vacuum", () =>
      kernel.storage.db.batch([
        ["delete from trace_prompt where trace in (select id from session)", []],
        ["delete from trace where removed = 0 and id in (select id from session)", []],
      ]),
    );
  },
});

declare module "sessarc" {
  interface AdapterCapabilities {
    traces: TracesContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface ErrorParams {
    TRACE_NOT_FOUND: { id: string };
  }
}
