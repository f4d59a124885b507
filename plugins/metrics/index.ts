/**
 * Usage as Prometheus reads it, and as a collector of OpenTelemetry takes it: sent regularly where the user named one. Figures and names of
 * assistants, models and tools, nothing of any session's content.
 */
import { definePlugin, defineRoute, type Kernel, type RoutesOf } from "sessarc";
import * as v from "valibot";
import { config } from "./config.ts";
import { readInvocations } from "./invocations.ts";
import { toMetrics, toTraces } from "./otlp.ts";
import { createSender } from "./sender.ts";

const day = v.optional(v.pipe(v.string(), v.isoDate("must be a day such as 2026-11-20")));

export const routes = [
  defineRoute({
    method: "GET",
    path: "/metrics",
    mount: "/",
    summary: "Usage for Prometheus: tokens, cost and sessions by assistant and model, and budgets",
    handler: async ({ kernel }): Promise<Response> =>
      new Response(await metricsText(kernel), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      }),
  }),
  defineRoute({
    method: "GET",
    path: "/metrics/otlp",
    summary: "Token counts by assistant and model as a collector of OpenTelemetry takes them (OTLP, JSON)",
    query: v.object({
      /** Local days, both included. */
      from: day,
      to: day,
      /** Zone whose days count; default this machine's. */
      tz: v.optional(v.string()),
      tool: v.optional(v.string()),
      /** Id, name or path. */
      project: v.optional(v.string()),
    }),
    handler: async ({ kernel, query: { project, ...query } }): Promise<ReturnType<typeof toMetrics>> => {
      const archive = kernel.inject("archive");
      if (query.tool !== undefined) await archive.checkTool(query.tool);
      const projects = project === undefined ? undefined : await archive.projectIds(project);
      return readMetrics(kernel, { ...query, projects });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/sessions/:id/spans",
    summary:
      "A session's prompts and tool calls as a collector of OpenTelemetry takes them (OTLP, JSON), without content",
    handler: async ({ kernel, params }): Promise<ReturnType<typeof toTraces>> => {
      const session = await kernel.inject("archive").get(params.id);
      return toTraces(session, await readInvocations(kernel, session.id), entryOf(kernel));
    },
  }),
] as const;

type Choice = Parameters<ReturnType<typeof insights>["byTool"]>[0];

const insights = (kernel: Kernel) => kernel.inject("insights");
const entryOf = (kernel: Kernel) => (model: string) => kernel.inject("pricing").price(model)?.entry;

/** What is sent to a collector: by the setting regularly, by `usage --otlp` once. */
async function readMetrics(kernel: Kernel, choice?: Choice) {
  const { rows } = await insights(kernel).byTool(choice);
  return toMetrics(rows, entryOf(kernel));
}

/** A service sends first when its start is over. */
const AFTER_START_MS = 2_000;

export default definePlugin({
  name: "metrics",
  dependsOn: ["archive", "insights", "budget"],
  config,
  routes,
  setup(kernel) {
    const sender = createSender(kernel, () => readMetrics(kernel));
    const start = () => {
      // A command asks a kernel without an address; it sends nothing.
      if (kernel.address) sender.start();
    };
    const timer = setTimeout(start, AFTER_START_MS).unref();
    kernel.hooks.hook("settings:changed", ({ keys }) => {
      if (keys.includes("metrics.otlp")) start();
    });
    kernel.hooks.hook("status:collect", (status) => {
      const state = sender.state();
      if (state.endpoint !== null) status.otlp = { ...state };
    });
    kernel.onClose(() => {
      clearTimeout(timer);
      sender.stop();
    });
  },
});

interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

const TYPES = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite5m: "cache_write_5m",
  cacheWrite1h: "cache_write_1h",
} as const;

/** Gauges, since a session that is deleted is no longer counted. */
async function metricsText(kernel: Kernel): Promise<string> {
  const [{ rows }, budgets] = await Promise.all([kernel.inject("insights").byTool(), kernel.inject("budgets").list()]);
  const byModel = rows.flatMap(({ key: tool, models }) => models.map((model) => ({ tool, ...model })));
  const tokens = byModel.flatMap(({ tool, model, tokens }) =>
    (Object.keys(TYPES) as (keyof typeof TYPES)[]).map((name) => ({
      labels: { tool, model, type: TYPES[name] },
      value: tokens[name],
    })),
  );
  return [
    gauge("sessarc_tokens", "Tokens of all archived sessions", tokens),
    gauge(
      "sessarc_cost_dollars",
      "Estimated cost; models without a price are missing",
      byModel.flatMap(({ tool, model, microdollars }) =>
        microdollars === null ? [] : [{ labels: { tool, model }, value: microdollars / 1e6 }],
      ),
    ),
    gauge(
      "sessarc_sessions",
      "Sessions; sub-agents count with the session that started them",
      rows.map(({ key: tool, sessions }) => ({ labels: { tool }, value: sessions })),
    ),
    gauge(
      "sessarc_messages",
      "Messages",
      rows.map(({ key: tool, messages }) => ({ labels: { tool }, value: messages ?? 0 })),
    ),
    gauge(
      "sessarc_active_seconds",
      "Time in which sessions were active",
      rows.map(({ key: tool, activeMs }) => ({ labels: { tool }, value: (activeMs ?? 0) / 1_000 })),
    ),
    gauge(
      "sessarc_budget_used_ratio",
      "Share of a budget that is used in its running period",
      budgets.map(({ id, period, scope, target, unit, share }) => ({
        // The target may be the id of a project, never its name.
        labels: { id, period, scope, target: target ?? "", unit },
        value: share,
      })),
    ),
  ].join("");
}

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
    return `${name}{${pairs.join(",")}} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

declare module "sessarc" {
  interface PluginConfig {
    metrics: { otlp: string; minutes: number };
  }
  interface UserConfig {
    /** `otlp`: the collector of OpenTelemetry that token counts are sent to, no content; default none. `minutes` between two sends, default 15. */
    metrics?: { otlp?: string | undefined; minutes?: number | undefined } | undefined;
  }
  interface SettingValues {
    /** The collector of OpenTelemetry that token counts are sent to; `""` none. */
    "metrics.otlp": string;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
