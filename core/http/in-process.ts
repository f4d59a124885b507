/** Requests of this process to its own app, through the same filter, with the headers that a regular client sends. */

import type { Kernel } from "../contract/kernel.ts";
import { serviceUrl } from "./address.ts";

/** Our own Host, JSON when the body is text, the token when one is asked for; what `init` says goes first. */
export function toRequest(kernel: Kernel, path: string, init: RequestInit = {}): Request {
  const url = serviceUrl(kernel);
  const headers = new Headers(init.headers);
  const setDefault = (name: string, value: string) => headers.has(name) || headers.set(name, value);
  setDefault("host", new URL(url).host);
  if (typeof init.body === "string") setDefault("content-type", "application/json");
  if (kernel.access.token) setDefault("authorization", `Bearer ${kernel.access.token}`);
  return new Request(new URL(path, url), { ...init, headers });
}
