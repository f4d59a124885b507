/** GET /scan: what can be imported, by project; told as it is found out where that takes long. */

import { defineRoute, eventsResponse, mustYield, streamJson, textStream, yieldNow } from "sessarc";
import * as v from "valibot";
import type { Logs } from "../places/logs.ts";
import type { FoundLog, ToolScan } from "../places/scan.ts";
import {
  describeLogs,
  type KeptProject,
  type ScannedProject,
  type ScannedSession,
  toProjects,
  wholeSessions,
} from "./scanned.ts";

/** Frames of the same as events: the tools at once, then sessions as they are read, each with its project. */
export type ScanFrame =
  | { type: "tools"; tools: ToolScan[]; sessions: number }
  | { type: "sessions"; sessions: (ScannedSession & { project: Omit<ScannedProject, "sessions" | "tools"> })[] }
  | { type: "done" };

/** More sessions than this are not put into one text in one go. */
const AT_ONCE = 250;

export const scan = defineRoute({
  method: "GET",
  path: "/scan",
  summary: "What can be imported, by project; with `Accept: text/event-stream` as it is found out",
  query: v.object({
    tool: v.optional(v.string()),
    /** `0`: what the tools have and no more. Which project a log belongs to takes a look into each that is not imported yet. */
    projects: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query, event }): Promise<{ tools: ToolScan[]; projects: ScannedProject[] } | Response> => {
    const { found, ...scanned } = await kernel.inject("archive/open").importer.scan();
    const tools = scanned.tools.filter((tool) => query.tool === undefined || tool.tool === query.tool);
    const sessions = tools.reduce((sum, tool) => sum + tool.sessions, 0);
    const looked = describeLogs(kernel, query.projects === "0" ? [] : chosen(found, query.tool));
    if (event.req.headers.get("accept")?.includes("text/event-stream")) {
      return eventsResponse(textStream(readFrames(tools, sessions, looked)));
    }
    const projects = await toProjects(looked);
    if (sessions > AT_ONCE && query.projects !== "0") return streamJson(pieces(tools, projects, found));
    return { tools, projects: projects.map((one) => ({ ...one, sessions: wholeSessions(one.sessions, found) })) };
  },
});

function* chosen(found: Logs, tool: string | undefined): Generator<FoundLog> {
  for (const one of found.values()) if (tool === undefined || one.ref.tool === tool) yield one;
}

type Looked = ReturnType<typeof describeLogs>;

async function* readFrames(tools: ToolScan[], sessions: number, looked: Looked): AsyncGenerator<string> {
  const frame = (one: ScanFrame) => `data: ${JSON.stringify(one)}\n\n`;
  yield frame({ type: "tools", tools, sessions });
  for await (const batch of looked)
    yield frame({ type: "sessions", sessions: batch.map(({ project, session }) => ({ ...session, project })) });
  yield frame({ type: "done" });
}

/** The answer as JSON, a few hundred sessions at a time. */
async function* pieces(tools: ToolScan[], projects: KeptProject[], found: Logs): AsyncGenerator<string> {
  yield `{"tools":${JSON.stringify(tools)},"projects":[`;
  for (const [n, { sessions, ...project }] of projects.entries()) {
    yield `${n ? "," : ""}${JSON.stringify(project).slice(0, -1)},"sessions":[`;
    for (let i = 0; i < sessions.length; i += AT_ONCE) {
      const some = JSON.stringify(wholeSessions(sessions.slice(i, i + AT_ONCE), found));
      yield `${i ? "," : ""}${some.slice(1, -1)}`;
      if (mustYield()) await yieldNow();
    }
    yield "]}";
  }
  yield "]}";
}
