/** Two sessions as columns of one table. */
import { useQuery } from "@pinia/colada";
import { computed, type Ref } from "vue";
import { ApiError, api } from "../../client.ts";
import { pathIn } from "../../format.ts";
import { allTokens, partsOf, type Usage } from "../../state/insights.ts";
import { toolAt, toTranscript } from "../session/transcript/model.ts";
import { sessionsText } from "./words/index.ts";

/** Everything of one side; its parts come one by one. */
export function useSide(id: Readonly<Ref<string>>) {
  const ready = () => id.value !== "";
  const detail = useQuery({
    key: () => ["session", id.value],
    enabled: ready,
    query: ({ signal }) => api("GET /sessions/:id", { params: { id: id.value }, signal }),
  });
  const figures = useQuery({
    key: () => ["session-figures", id.value],
    enabled: ready,
    query: ({ signal }) => api("GET /sessions/:id/figures", { params: { id: id.value }, signal }),
  });
  const outline = useQuery({
    key: () => ["compare-outline", id.value],
    enabled: ready,
    query: async ({ signal }) => summary(await api("GET /sessions/:id/outline", { params: { id: id.value }, signal })),
  });
  const health = useQuery({
    key: () => ["health", "session", id.value],
    enabled: ready,
    query: ({ signal }) => api("GET /sessions/:id/health", { params: { id: id.value }, signal }),
  });
  /** Failed calls that were repeated unchanged; null where the plugin that counts them is not loaded. */
  const retries = computed(
    () => health.data.value?.filter(({ kind }) => kind === "retry").reduce((sum, { count }) => sum + count, 0) ?? null,
  );
  const session = computed(() => detail.data.value?.session);
  const parts = computed(() => partsOf((session.value?.usage ?? {}) as Usage));
  const numbers = computed((): Record<Figure, number | null> => {
    const one = session.value;
    const ends = one?.startedAt && one.endedAt ? Date.parse(one.endedAt) - Date.parse(one.startedAt) : null;
    return {
      messages: one?.messageCount ?? null,
      active: one?.activeMs ?? null,
      span: ends,
      calls: outline.data.value?.calls ?? null,
      errors: one?.errorCount ?? null,
      retries: retries.value,
      tokensIn: one ? parts.value.input : null,
      tokensOut: one ? parts.value.output : null,
      tokensWritten: one ? parts.value.cacheWrite5m + parts.value.cacheWrite1h : null,
      tokensCached: one ? parts.value.cacheRead : null,
      tokens: one ? allTokens(parts.value) : null,
      cost: one?.cost && (one.cost.microdollars > 0 || one.cost.unpriced.length === 0) ? one.cost.microdollars : null,
      subagents: one?.subagentCount ?? null,
      size: one?.source.bytes ?? null,
    };
  });
  const isUnknown = (error: unknown) => error instanceof ApiError && error.code === "ROUTE_NOT_FOUND";
  const healthError = computed(() => (isUnknown(health.error.value) ? null : health.error.value));
  const error = computed(() => detail.error.value ?? figures.error.value ?? outline.error.value ?? healthError.value);
  const retry = () => Promise.all([detail, figures, outline, health].map((one) => one.refetch()));
  const isGone = computed(() => detail.error.value instanceof ApiError && detail.error.value.status === 404);
  const known = computed(() => !!detail.data.value && (health.data.value !== undefined || health.error.value !== null));
  return {
    ...{ session, project: computed(() => detail.data.value?.project), figures, outline, numbers },
    ...{ known, isGone, error, retry },
  };
}
export type Side = ReturnType<typeof useSide>;

/** How much more or less the second side has. */
export const sayDifference = (a: number, b: number, say: (value: number) => string): string =>
  a === b ? sessionsText("noDifference") : `${b > a ? "+" : "−"}${say(Math.abs(b - a))}`;

/** A path of a call below the project's folder, so that both sides name a file alike. */
export function insideOf(side: Side, path: string): string {
  const { cwd } = side.session.value ?? {};
  const isAbsolute = /^([/\\]|[A-Za-z]:)/.test(path);
  const full = isAbsolute || !cwd ? path : `${cwd}/${path.replace(/^(\.\/)+/, "")}`;
  const root = side.project.value?.path ?? cwd;
  return pathIn(root, full) ?? full;
}

export const FIGURES = [
  "messages",
  "active",
  "span",
  "calls",
  "errors",
  "retries",
  "tokens",
  "tokensIn",
  "tokensOut",
  "tokensWritten",
  "tokensCached",
  "cost",
  "subagents",
  "size",
] as const;
export type Figure = (typeof FIGURES)[number];
/** Those that say what the work was; the others are parts of them. */
export const MAIN: readonly Figure[] = [
  "cost",
  "active",
  "errors",
  "retries",
  "calls",
  "messages",
  "tokens",
  "subagents",
];

/** In what one session can be better than the other: less is better in all of them. */
export const MEASURES = ["cost", "errors", "retries", "active"] as const;

type Outline = Parameters<typeof toTranscript>[0];

function summary(outline: Outline) {
  const transcript = toTranscript(outline);
  const tools = new Map<string, { calls: number; errors: number }>();
  let calls = 0;
  for (let seq = 0; seq < transcript.total; seq++) {
    const tool = toolAt(transcript, seq);
    if (!tool) continue;
    calls++;
    const sum = tools.get(tool.name) ?? { calls: 0, errors: 0 };
    const failed = transcript.errors.has(transcript.partner[seq] ?? -1);
    tools.set(tool.name, { calls: sum.calls + 1, errors: sum.errors + Number(failed) });
  }
  const prompts = outline.prompts.filter((one) => transcript.kinds[one.seq] === 0);
  return { calls, tools, prompts };
}
