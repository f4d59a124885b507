/** `sessarc usage --otlp`: sends token counts once, as OTLP/HTTP JSON, by OpenTelemetry's conventions for generative AI. No content is sent. */
import { type CommandContext, SessarcError, type TokenUsage, UsageError, VERSION } from "sessarc";
import { messageOf } from "#internal";
import { formatCount } from "#internal/terminal";
import "../errors.ts";

const TIMEOUT_MS = 15_000;
/** Where the names of the price table's providers and of the conventions differ. */
const SYSTEMS: Readonly<Record<string, string>> = {
  aws: "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  "x-ai": "xai",
};

interface UsageByTool {
  /** `key`: the tool. */
  rows: readonly {
    key: string;
    models: readonly { model: string; spellings: readonly string[]; tokens: TokenUsage }[];
  }[];
}

interface PriceEntries {
  models: readonly { model: string; entry: string | null }[];
}

/** `/v1/metrics` is added to an address without a path. Throws UsageError. */
export function readEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new UsageError("--otlp takes an http or https address, such as http://localhost:4318/v1/metrics");
  if (url.username !== "" || url.password !== "")
    throw new UsageError("--otlp takes an address without a user name and password: send to a local collector");
  if (url.pathname === "/") url.pathname = "/v1/metrics";
  return url;
}

/** Throws OTLP_FAILED. */
export async function sendUsage(ctx: CommandContext, url: URL, usage: UsageByTool): Promise<void> {
  const { models } = await ctx.get<PriceEntries>("/prices", {}, ctx.signal);
  const systems = new Map(models.map(({ model, entry }) => [model, systemOf(entry)]));
  const points = usage.rows.flatMap(({ key: tool, models }) =>
    models.flatMap(({ model, spellings, tokens }) => {
      const system = spellings.map((name) => systems.get(name)).find((name) => name !== undefined) ?? "_OTHER";
      return Object.entries(countsOf(tokens)).map(([type, sum]) =>
        toPoint(
          { "gen_ai.system": system, "gen_ai.request.model": model, "gen_ai.token.type": type, "sessarc.tool": tool },
          sum,
        ),
      );
    }),
  );
  await post(ctx, url, toMetrics(points));
  if (ctx.json) ctx.out(JSON.stringify({ endpoint: url.href, points: points.length }));
  else ctx.out(`Sent ${formatCount(points.length)} token counts to ${url.href}`);
}

function systemOf(entry: string | null): string | undefined {
  const provider = entry?.split("/", 1)[0];
  return provider === undefined ? undefined : (SYSTEMS[provider] ?? provider);
}

/** The conventions count cached tokens as input. */
const countsOf = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenUsage) => ({
  input: input + cacheRead + cacheWrite5m + cacheWrite1h,
  output,
});

/** The conventions ask for a histogram. Each point has one observation, the total. 64-bit integers are texts in OTLP's JSON. */
function toPoint(attributes: Readonly<Record<string, string>>, sum: number) {
  return {
    attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
    startTimeUnixNano: "0",
    timeUnixNano: `${Date.now()}000000`,
    count: "1",
    sum,
    bucketCounts: ["1"],
    explicitBounds: [],
  };
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
/** Of the protocol: the totals since the start. */
const CUMULATIVE = 2;

const toMetrics = (dataPoints: readonly ReturnType<typeof toPoint>[]) => ({
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

async function post(ctx: CommandContext, url: URL, body: unknown): Promise<void> {
  const failed = (reason: string) => new SessarcError("OTLP_FAILED", { url: url.origin, reason });
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      // The user named this address and no other one.
      redirect: "error",
      signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } catch (error) {
    throw failed(error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error));
  }
  await response.body?.cancel();
  if (!response.ok) throw failed(`it answered ${response.status}`);
}
