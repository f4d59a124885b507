/** `sessarc team serve`: a node on a socket, until it is stopped. */
import type { RequestListener } from "node:http";
import { toMessage } from "sessarc";
import { linger, listenOn } from "sessarc/serve";
import { type CommandContext, printable } from "sessarc/terminal";
import { createNode } from "./node.ts";

/** What open connections get to end. */
const GRACE_MS = 2_000;

export interface ServedNode {
  url: string;
  close(): Promise<void>;
}

const findText = (flag: CommandContext["flags"][string]): string | undefined =>
  typeof flag === "string" ? flag : undefined;

/** Starts a node as the flags say; what it prints goes to `out` and `err`. */
export async function startNode(
  ctx: Pick<CommandContext, "flags" | "path" | "plugins" | "config" | "out" | "err">,
): Promise<ServedNode> {
  const { flags, config } = ctx;
  const node = await createNode({
    database: findText(flags.database) ?? ctx.path("team", "database"),
    blobs: findText(flags.blobs) ?? ctx.path("team", "blobs"),
    folder: ctx.path("team", "node"),
    address: findText(flags.address),
    repositories: findText(flags.repositories),
    plugins: ctx.plugins,
    config,
    log: (line) => ctx.err(printable(line)),
  });
  try {
    const { toNodeHandler } = await import("h3");
    const handle: RequestListener = toNodeHandler(node.app);
    // Connections that come before the address is known wait for it.
    let listens = () => {};
    const listening = new Promise<void>((resolve) => {
      listens = resolve;
    });
    const { server, address, stop } = await listenOn(config, (req, res) => {
      linger(req, res);
      void listening.then(() => handle(req, res));
    });
    node.listens(address.host, address.port);
    listens();
    const link = await node.ownerLink();
    ctx.out(`sessarc team ready at ${address.url}`);
    if (node.publicAddress !== undefined) ctx.out(`People and machines use ${node.publicAddress}`);
    else if (address.host === "0.0.0.0" || address.host === "::")
      ctx.err("Other machines are refused until --address names the address that they use.");
    if (link !== undefined) ctx.out(`No machine has joined yet. The owner joins with: sessarc team join ${link}`);
    return {
      url: address.url,
      async close() {
        const stopped = stop();
        const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
        await stopped;
        clearTimeout(cut);
        await node.close();
      },
    };
  } catch (error) {
    await node.close();
    throw error;
  }
}

/** Runs until a signal; the second one ends the process at once. */
export async function run(ctx: CommandContext): Promise<number> {
  const node = await startNode(ctx);
  await new Promise<void>((resolve) => {
    if (ctx.signal.aborted) resolve();
    ctx.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await node.close();
    return 0;
  } catch (error) {
    ctx.err(printable(toMessage(error)));
    return 1;
  }
}
