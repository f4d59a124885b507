/** Token counts as OTLP/HTTP JSON, by OpenTelemetry's conventions for generative AI, and sending them to a collector. No content is in them. */
import { toMessage } from "./async.ts";
import { VERSION } from "./version.ts";

const TIMEOUT_MS = 15_000;
/** Where the names of the price table's providers and of the conventions differ. */
const SYSTEMS: Readonly<Record<string, string>> = {
  aws: "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  "x-ai": "xai",
};

type Tokens = Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite5m" | "cacheWrite1h", number>>;

/** An assistant's tokens by model, as `tokenPoints` takes them. */
export interface ToolTokens {
  /** The assistant. */
  key: string;
  models: readonly { model: string; spellings: readonly string[]; tokens: Tokens }[];
}

/** `entryOf`: the price table's entry of a model, `anthropic/claude-opus-4-5`. One point is one model and type of token of an assistant. */
export function tokenPoints(rows: readonly ToolTokens[], entryOf: (model: string) => string | null | undefined) {
  const at = Date.now();
  return rows.flatMap(({ key: tool, models }) =>
    models.flatMap(({ model, spellings, tokens }) => {
      const system = spellings.map((name) => findSystem(entryOf(name))).find((name) => name !== undefined) ?? "_OTHER";
      return Object.entries(toCounts(tokens)).map(([type, sum]) =>
        toPoint(
          { "gen_ai.system": system, "gen_ai.request.model": model, "gen_ai.token.type": type, "sessarc.tool": tool },
          sum,
          at,
        ),
      );
    }),
  );
}

/** The address of a collector: `/v1/metrics` is added to one without a path. A text: why it is not an address. */
export function collectorAt(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    return "must be an http or https address, such as http://localhost:4318/v1/metrics";
  if (url.username !== "" || url.password !== "")
    return "must be an address without a user name and password: send to a local collector";
  if (url.pathname === "/") url.pathname = "/v1/metrics";
  return url;
}

/** Why the collector did not take the points; undefined when it took them. */
export async function sendPoints(
  url: URL,
  points: ReturnType<typeof tokenPoints>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(toMetrics(points)),
      // The user named this address and no other one.
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `it answered ${response.status}`;
  } catch (error) {
    return error instanceof Error && error.cause ? toMessage(error.cause) : toMessage(error);
  }
}

function findSystem(entry: string | null | undefined): string | undefined {
  const provider = entry?.split("/", 1)[0];
  return provider === undefined ? undefined : (SYSTEMS[provider] ?? provider);
}

/** The conventions count cached tokens as input. */
const toCounts = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: Tokens) => ({
  input: input + cacheRead + cacheWrite5m + cacheWrite1h,
  output,
});

/** The conventions ask for a histogram. Each point has one observation, the total. 64-bit integers are texts in OTLP's JSON. */
function toPoint(attributes: Readonly<Record<string, string>>, sum: number, at: number) {
  return {
    attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
    startTimeUnixNano: "0",
    timeUnixNano: `${at}000000`,
    count: "1",
    sum,
    bucketCounts: ["1"],
    explicitBounds: [],
  };
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
/** Of the protocol: the totals since the start. */
const CUMULATIVE = 2;

const toMetrics = (dataPoints: ReturnType<typeof tokenPoints>) => ({
  resourceMetrics: [
    {
      resource: { attributes: [attribute("service.name", "sessarc"), attribute("service.version", VERSION)] },
      scopeMetrics: [
        {
          scope: { name: "sessarc", version: VERSION },
          metrics: [
            {
              name: "gen_ai.client.token.usage",
              description: "Tokens of archived sessions",
              unit: "{token}",
              histogram: { aggregationTemporality: CUMULATIVE, dataPoints },
            },
          ],
        },
      ],
    },
  ],
});
