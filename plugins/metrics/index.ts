/**
 * GET /metrics: usage as Prometheus reads it; and, where the user named a collector, the same sent to it regularly. Figures and names of
 * assistants and models, nothing of any session's content.
 */
import { definePlugin, defineRoute, type Kernel, type RoutesOf } from "sessarc";
import { config } from "./config.ts";
import { createSender } from "./sender.ts";

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
] as const;

/** A service sends first when its start is over. */
const AFTER_START_MS = 2_000;

export default definePlugin({
  name: "metrics",
  dependsOn: ["archive", "insights", "budget"],
  config,
  routes,
  setup(kernel) {
    const sender = createSender(kernel);
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
