/** The HTTP API, typed from the routes themselves: `api("GET /sessions/:id", { params: { id } })`. No server code reaches the bundle. */
import type { Answer, Args, Init, RouteKey } from "../plugins/dashboard/ui.ts";
import type {} from "../plugins/index.ts";
import { pathOf } from "./client-path.ts";

export type { Answer, BodyOf, Init, QueryOf, RouteKey } from "../plugins/dashboard/ui.ts";

/** The one error shape of the API, or what kept the request from being answered (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string | undefined;
  constructor(body: { status: number; code: string; message: string; fix?: string | undefined }) {
    super(body.message);
    this.name = "ApiError";
    this.status = body.status;
    this.code = body.code;
    // Routes are for programs.
    this.fix = body.fix?.replace(/ \((?:GET|POST|PUT|PATCH|DELETE) \/[^)]*\)/g, "");
  }
}

/** Throws ApiError for every answer that is not a success; an aborted request rejects with AbortError. */
export async function api<K extends RouteKey>(key: K, ...[init]: Args<K>): Promise<Answer<K>> {
  const response = await request(key, init);
  return (response.status === 204 ? undefined : await response.json()) as Answer<K>;
}

/** The raw answer, for streams. */
export async function request<K extends RouteKey>(key: K, init?: Partial<Init<K>>): Promise<Response> {
  const [method = "GET"] = key.split(" ");
  const options: RequestInit = { method, headers: { accept: "application/json", ...init?.headers } };
  if (init?.signal) options.signal = init.signal;
  if (init?.body !== undefined) {
    options.body = JSON.stringify(init.body);
    options.headers = { ...options.headers, "content-type": "application/json" };
  }
  const response = await fetch(urlOf(key, init), options).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError({ status: 0, code: "UNREACHABLE", message: "The service does not answer" });
  });
  if (!response.ok) throw await toError(response);
  return response;
}

export function urlOf<K extends RouteKey>(key: K, init?: { params?: unknown; query?: unknown }): string {
  return pathOf(
    key.slice(key.indexOf(" ") + 1),
    init?.params as Record<string, string> | undefined,
    init?.query as Record<string, unknown> | undefined,
  );
}

async function toError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { status } = response;
  if (body === null || typeof body !== "object")
    return new ApiError({ status, code: `HTTP_${status}`, message: response.statusText });
  const { code, message, fix } = body as { code?: string; message?: string; fix?: string };
  return new ApiError({ status, code: code ?? `HTTP_${status}`, message: message ?? response.statusText, fix });
}
