/** Figures and sessions in the JSON of OTLP, by OpenTelemetry's conventions for generative AI. No content is in them. */
import { createHash } from "node:crypto";
import { type TokenUsage, VERSION } from "sessarc";

/** Where the price table and the conventions name a provider differently. */
const PROVIDERS: Readonly<Record<string, string>> = {
  aws: "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gen_ai",
  mistral: "mistral_ai",
  moonshotai: "moonshot_ai",
  "x-ai": "x_ai",
};
/** Of the protocol: the totals since the start. */
const CUMULATIVE = 2;
/** Of the protocol: a span inside a process. */
const INTERNAL = 1;
/** Of the protocol. */
const ERROR = 2;

/** The price table's entry of a model, `anthropic/claude-opus-4-5`. */
type EntryOf = (model: string) => string | null | undefined;

interface ToolTokens {
  /** The assistant. */
  key: string;
  models: readonly { model: string; spellings: readonly string[]; tokens: TokenUsage }[];
}

/** `gen_ai.client.token.usage`: one point is one model and type of token of an assistant. */
export function toMetrics(rows: readonly ToolTokens[], entryOf: EntryOf) {
  const at = Date.now();
  const dataPoints = rows.flatMap(({ key: tool, models }) =>
    models.flatMap(({ model, spellings, tokens }) =>
      Object.entries({ input: toInput(tokens), output: tokens.output }).map(([type, sum]) => ({
        attributes: toAttributes({
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": toProvider(spellings, entryOf),
          "gen_ai.request.model": model,
          "gen_ai.token.type": type,
          "gen_ai.agent.name": tool,
        }),
        startTimeUnixNano: "0",
        timeUnixNano: toNano(at),
        // The conventions ask for a histogram. Each point has one observation, the total.
        count: "1",
        sum,
        bucketCounts: ["1"],
        explicitBounds: [],
      })),
    ),
  );
  const metric = {
    name: "gen_ai.client.token.usage",
    description: "Tokens of archived sessions",
    unit: "{token}",
    histogram: { aggregationTemporality: CUMULATIVE, dataPoints },
  };
  return { resourceMetrics: [{ resource: RESOURCE, scopeMetrics: [{ scope: SCOPE, metrics: [metric] }] }] };
}

/** What an assistant did for one prompt. */
export interface Invocation {
  /** Number of its first message. */
  seq: number;
  /** ms. */
  from: number;
  to: number;
  model: string | undefined;
  /** Undefined: the log does not name the tokens of single replies. */
  tokens: TokenUsage | undefined;
  calls: readonly { seq: number; id: string | undefined; tool: string; from: number; to: number; failed: boolean }[];
}

/** A prompt is a trace of its own: `invoke_agent`, and in it `execute_tool` for each tool call. Ids are the same each time. */
export function toTraces(
  { id, key, tool }: { id: string; key: string; tool: string },
  invocations: readonly Invocation[],
  entryOf: EntryOf,
) {
  const spans = invocations.flatMap(({ seq, from, to, model, tokens, calls }) => {
    const traceId = toId(`${id} ${seq}`, 16);
    const spanId = toId(`${id} ${seq}`, 8);
    const shared = {
      "gen_ai.provider.name": toProvider(model === undefined ? [] : [model], entryOf),
      "gen_ai.agent.name": tool,
      "gen_ai.conversation.id": key,
    };
    const agent = {
      ...{ traceId, spanId, name: `invoke_agent ${tool}`, kind: INTERNAL, ...toTimes(from, to) },
      attributes: toAttributes({
        "gen_ai.operation.name": "invoke_agent",
        ...shared,
        "gen_ai.request.model": model,
        ...(tokens && {
          "gen_ai.usage.input_tokens": toInput(tokens),
          "gen_ai.usage.output_tokens": tokens.output,
          "gen_ai.usage.cache_read.input_tokens": tokens.cacheRead,
          "gen_ai.usage.cache_creation.input_tokens": tokens.cacheWrite5m + tokens.cacheWrite1h,
        }),
      }),
    };
    const tools = calls.map((call) => ({
      ...{ traceId, spanId: toId(`${id} ${seq} ${call.seq}`, 8), parentSpanId: spanId },
      ...{ name: `execute_tool ${call.tool}`, kind: INTERNAL, ...toTimes(call.from, call.to) },
      attributes: toAttributes({
        "gen_ai.operation.name": "execute_tool",
        ...shared,
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.id,
        ...(call.failed && { "error.type": "_OTHER" }),
      }),
      ...(call.failed && { status: { code: ERROR } }),
    }));
    return [agent, ...tools];
  });
  return { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ scope: SCOPE, spans }] }] };
}

/** The conventions count cached tokens as input. */
const toInput = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: TokenUsage) =>
  input + cacheRead + cacheWrite5m + cacheWrite1h;

function toProvider(models: readonly string[], entryOf: EntryOf): string {
  for (const model of models) {
    const provider = entryOf(model)?.split("/", 1)[0];
    if (provider !== undefined) return PROVIDERS[provider] ?? provider;
  }
  return "_OTHER";
}

/** 64-bit integers are texts in OTLP's JSON. */
function toAttributes(values: Readonly<Record<string, string | number | undefined>>) {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "number" ? { intValue: `${value}` } : { stringValue: value } }];
  });
}

const toNano = (ms: number) => `${ms}000000`;
const toTimes = (from: number, to: number) => ({ startTimeUnixNano: toNano(from), endTimeUnixNano: toNano(to) });
const toId = (text: string, bytes: number) =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, bytes * 2);

const RESOURCE = { attributes: toAttributes({ "service.name": "sessarc", "service.version": VERSION }) };
const SCOPE = { name: "sessarc", version: VERSION };
