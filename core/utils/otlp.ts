/** Sends to a collector of OpenTelemetry by OTLP/HTTP, as JSON. */
import { toMessage } from "./async.ts";

const TIMEOUT_MS = 15_000;

/** What OTLP sends at an address of its own. */
export type OtlpSignal = "metrics" | "traces";

/** The address of a collector: `/v1/<signal>` is added to one without a path. A text: why it is not an address. */
export function collectorAt(text: string, signal: OtlpSignal = "metrics"): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    return `must be an http or https address, such as http://localhost:4318/v1/${signal}`;
  if (url.username !== "" || url.password !== "")
    return "must be an address without a user name and password: send to a local collector";
  if (url.pathname === "/") url.pathname = `/v1/${signal}`;
  return url;
}

/** Why the collector did not take `document`; undefined when it took all of it. */
export async function sendOtlp(url: URL, document: object, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(document),
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
