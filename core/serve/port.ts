/** Which port to listen on. */
import { createServer } from "node:net";
import type { CoreConfig } from "../contract/config.ts";
import { SessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";

/** Ports tried after the usual one. */
const TRIES = 20;

/**
 * Throws HOST_UNUSABLE for an invalid address, and PORT_TAKEN when a requested port is in use. Without a request: the default port, the next free ones after it, at last any.
 * 0 means any: the system chooses.
 */
export async function choosePort({ host, port, portFixed }: Pick<CoreConfig, "host" | "port" | "portFixed">) {
  if (portFixed) {
    if (await isFree(host, port)) return port;
    throw new SessarcError("PORT_TAKEN", { port, host });
  }
  if (port === 0) {
    await isFree(host, 0);
    return 0;
  }
  for (let next = port; next < Math.min(port + TRIES, 65_536); next++) if (await isFree(host, next)) return next;
  return 0;
}

/** Rejects with HOST_UNUSABLE when the address itself cannot be used (no such interface, not allowed). */
function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE"
        ? resolve(false)
        : reject(new SessarcError("HOST_UNUSABLE", { host, port, reason: systemReason(error) ?? error.message })),
    );
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
