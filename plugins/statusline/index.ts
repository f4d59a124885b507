/** The status line of assistants: what a session, the day and the running window cost, and the provider's own limits. */

import { definePlugin, defineRoute, type Kernel, type RoutesOf } from "sessarc";
import { type Command, printable } from "sessarc/terminal";
import * as v from "valibot";
import type { StatuslineContract } from "./contract.ts";
import { type Figures, STATE_KEY, toDay } from "./figures.ts";
import {
  createInstaller,
  type Installer,
  type StatuslineInstalled,
  type StatuslineRemoved,
  type StatuslineStatus,
} from "./install.ts";
import { toPlaces } from "./places.ts";

export type { StatuslineContract, StatuslineField, StatuslinePlace } from "./contract.ts";
export type { Figures, RunningWindow } from "./figures.ts";
export type { Installer, StatuslineInstalled, StatuslineRemoved, StatuslineStatus } from "./install.ts";

/** Minutes of the window that plans count in. */
const WINDOW = 300;
const QUARTER = 15;
const MOST_MINUTES = 44_640;

const limit = v.object({
  minutes: v.pipe(v.number(), v.integer(), v.minValue(QUARTER), v.maxValue(MOST_MINUTES)),
  usedPercent: v.pipe(v.number(), v.minValue(0), v.maxValue(1e6)),
  resetsAt: v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
  ),
});
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(400));

export const routes = [
  defineRoute({
    method: "POST",
    path: "/statusline",
    summary: "What a status line shows of the archive; stores the limits that the assistant passes on",
    body: v.object({
      /** Default: that of the session. */
      tool: v.optional(name),
      /** The assistant's own id of the session. */
      session: v.optional(name),
      limits: v.optional(v.pipe(v.array(limit), v.maxLength(8)), []),
    }),
    handler: async ({ kernel, body: { tool: named, session: key, limits } }): Promise<Figures> => {
      const at = Date.now();
      const { tool, session } = await describe(kernel, named, key);
      if (tool === null) return kernel.inject("statusline").figures();
      const readings = limits.map(({ resetsAt, ...one }) => ({ ...one, tool, at, resetsAt: Date.parse(resetsAt) }));
      await kernel.inject("insights").storeReadings(readings);
      return kernel.inject("statusline").figures(session, tool);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/statusline",
    summary: "Which assistants show the status line",
    handler: ({ kernel }): Promise<StatuslineStatus[]> => kernel.inject("statusline").installer.status(),
  }),
  defineRoute({
    method: "POST",
    path: "/statusline/install",
    summary: "Put the status line into an assistant's settings",
    body: v.object({
      /** Default: the first that can show it. */
      tool: v.optional(name),
      /** In the place of another status line. */
      replace: v.optional(v.boolean()),
      template: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(1_000),
          v.check((text) => printable(text) === text && !/[\n\t]/.test(text), "must be one line of text"),
        ),
      ),
    }),
    handler: ({ kernel, body: { tool, ...options } }): Promise<StatuslineInstalled> =>
      kernel.inject("statusline").installer.install(tool, options),
  }),
  defineRoute({
    method: "DELETE",
    path: "/statusline/install",
    summary: "Take the status line out of an assistant's settings",
    query: v.object({ tool: v.optional(name) }),
    handler: ({ kernel, query }): Promise<StatuslineRemoved> =>
      kernel.inject("statusline").installer.uninstall(query.tool),
  }),
] as const;

const command: Command = {
  name: "statusline",
  summary: "One line for an assistant's status bar: model, context, cost",
  usage:
    "[--template t] < the assistant's JSON\n--install|--uninstall|--status [--tool name] [--template t] [--replace]",
  options: {
    install: { type: "boolean" },
    uninstall: { type: "boolean" },
    status: { type: "boolean" },
    tool: { type: "string", short: "t" },
    template: { type: "string" },
    fields: { type: "string" },
    replace: { type: "boolean" },
  },
  help: {
    install: "Show it in the assistant, whose settings are backed up first",
    uninstall: "Take it out again; the settings are restored byte for byte if nothing else changed them",
    status: "Which assistants show it",
    tool: "The assistant; --status lists them, the first one is the default",
    template: "Parts with | between them, as '{model}|{today} today'; a part without its figure is left out",
    fields: "Where the JSON has a figure under another name: model=llm.name,context=ctx.percent",
    replace: "In the place of another status line, which --uninstall puts back",
  },
  operands: [],
  load: () => import("./command.ts"),
};

export interface Statusline {
  installer: Installer;
  /** `session`: its id in the archive. `tool`: default the first assistant that can show the line. */
  figures(session?: string, tool?: string): Promise<Figures>;
}

export default definePlugin({
  name: "statusline",
  dependsOn: ["archive", "insights", "budget"],
  routes,
  commands: [command],
  setup(kernel) {
    const installer = createInstaller(kernel);
    const figures = (session?: string, tool?: string) => readFigures(kernel, session, tool);
    kernel.provide("statusline", { installer, figures });
    const write = async () => {
      if (kernel.storage.readOnly || !(await installer.isInstalled())) return;
      await kernel.storage.files.setItem(STATE_KEY, JSON.stringify(await figures()));
    };
    kernel.hooks.hook("import:done", write);
    kernel.hooks.hook("prices:changed", write);
    kernel.onClose(async () => {
      if (kernel.address) await write();
    });
  },
});

/** What a line is about, where the command may not name the assistant: the session's own, else the first that can show the line. */
async function describe(kernel: Kernel, tool: string | undefined, key: string | undefined) {
  const tools = tool === undefined ? toPlaces(kernel).map(({ name }) => name) : [tool];
  const ids = key === undefined ? [] : tools.map((one) => `${one}:${key}`);
  const [session] = tool === undefined && ids.length > 0 ? await kernel.inject("archive").list({ ids }) : [];
  return { tool: session?.tool ?? tools[0] ?? null, session: session?.id ?? ids[0] };
}

async function readFigures(kernel: Kernel, session: string | undefined, tool?: string): Promise<Figures> {
  const insights = kernel.inject("insights");
  const now = Date.now();
  const day = toDay(now);
  const [today, { rows }, found, budgets, limits] = await Promise.all([
    insights.totals({ from: day, to: day }),
    // A window that is running began today or yesterday.
    insights.blocks({ minutes: WINDOW, from: toDay(now - 86_400_000), now }),
    session === undefined ? [] : kernel.inject("archive").list({ ids: [session] }),
    kernel.inject("budgets").list(),
    kernel.find("limits")?.list() ?? [],
  ]);
  return {
    tool: tool ?? toPlaces(kernel)[0]?.name ?? null,
    at: new Date(now).toISOString(),
    day,
    today: { tokens: today.tokens, microdollars: today.cost.microdollars },
    session: found[0]?.cost ? { microdollars: found[0].cost.microdollars } : null,
    budget: budgets.reduce<Figures["budget"]>(
      (most, { period, share }) => (most && most.share >= share ? most : { period, share }),
      null,
    ),
    windows: rows
      .filter(({ active }) => active)
      .map(({ tool, start, end, tokens, cost: { microdollars } }) => ({
        tool,
        start,
        end,
        tokens: Object.values(tokens).reduce((sum, count) => sum + count, 0),
        microdollars,
      })),
    limits: limits.map(({ tool, minutes, usedPercent, resetsAt, runsOutAt }) => ({
      tool,
      minutes,
      usedPercent,
      resetsAt,
      runsOutAt,
    })),
  };
}

declare module "sessarc" {
  interface AdapterCapabilities {
    statusline: StatuslineContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    statusline: Statusline;
  }
}
