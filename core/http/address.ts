/** The service's address for programs of this machine. */
import type { Kernel } from "../contract/kernel.ts";

/** `http://127.0.0.1:41730/`: where the service listens, or would listen by the configuration. */
export function serviceUrl({ address, config }: Pick<Kernel, "address" | "config">): string {
  return address?.url ?? toServiceUrl(config);
}

export const toServiceUrl = ({ host, port }: { host: string; port: number }): string =>
  `http://${toHostName(host)}:${port}/`;

/** `host` as a URL of this machine names it: a wildcard address is reached at loopback, IPv6 is in brackets. */
export function toHostName(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "0.0.0.0" || bare === "::") return "127.0.0.1";
  return bare.includes(":") ? `[${bare}]` : bare;
}
