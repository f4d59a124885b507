/** What the archive's tools read: the product's own API, in this process. */
import type { ApiRoutes, ErrorBody, Kernel } from "sessarc";
import { serviceUrl } from "sessarc/serve";
import { INVALID_PARAMS, RpcError } from "../upstream/rpc-error.ts";

/** What a route answers as JSON. */
export type Answer<K extends keyof ApiRoutes> = ApiRoutes[K] extends { response: infer R }
  ? Exclude<R, Response>
  : never;

export interface Source {
  /** GET of a path below /api. An answer that is an error is thrown with its message and remedy. */
  get<T>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<T>;
  /** Where a person opens a session, at a message when one is named. */
  link(session: string, seq?: number): string;
  /** The text without secrets. */
  clean(text: string): Promise<string>;
}

export function createSource(kernel: Kernel, signal: AbortSignal): Source {
  return {
    async get<T>(path: string, query: Readonly<Record<string, string | number | undefined>> = {}) {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
      // Masked where texts are whole: what is cut here afterwards shows no half of a secret.
      if (/^\/search$|\/messages$/.test(path)) search.set("redacted", "1");
      const response = await kernel.fetch(`/api${path}${search.size > 0 ? `?${search}` : ""}`, { signal });
      if (response.ok) return (await response.json()) as T;
      const { message, fix } = (await response.json()) as ErrorBody;
      throw new RpcError(INVALID_PARAMS, fix ? `${message}. ${fix}` : message);
    },
    link(session, seq) {
      const base = kernel.find("public-address")?.() ?? serviceUrl(kernel).replace(/\/$/, "");
      return `${base}/sessions/${encodeURIComponent(session)}${seq === undefined ? "" : `?m=${seq}`}`;
    },
    clean: (text) => kernel.inject("rules").hide(text),
  };
}
