/** What an installed hook may find in the place of the service: nothing, or something that is not it. */
import { rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const own = { "content-type": "application/json; guard=sessarc" };

const answers = {
  hanging: () => {},
  slow: (_, res) => void setTimeout(() => res.writeHead(200, own).end("{}"), 3_000).unref(),
  "slow in the middle of its answer": (_, res) => {
    res.writeHead(200, own);
    res.write("{");
  },
  nonsense: (_, res) => res.setHeader("content-type", "text/html").end("<p>It works</p>"),
  "somebody else's empty object": (_, res) => res.setHeader("content-type", "application/json").end("{}"),
  "somebody else's block": (_, res) =>
    res.setHeader("content-type", "application/json").end('{"decision":"block","reason":"no"}'),
  "half an answer": (_, res) => res.writeHead(200, own).end('{"decision":"blo'),
  "an error": (_, res) => res.writeHead(500, own).end("{}"),
} satisfies Record<string, RequestListener>;

export type Trouble = "down" | "crashed" | "gone" | keyof typeof answers;
export const TROUBLES = ["down", "crashed", "gone", ...Object.keys(answers)] as readonly Trouble[];

/** `dataDir` of a service that has been closed. */
export async function makeTrouble(dataDir: string, trouble: Trouble): Promise<void> {
  if (trouble === "down") return rm(join(dataDir, "lock.json"), { force: true });
  if (trouble === "gone") return rm(join(dataDir, "guard"), { recursive: true });
  // A crash leaves the lock file behind, with a port where no process listens.
  const server = createServer(trouble === "crashed" ? () => {} : answers[trouble]);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  if (trouble === "crashed") close();
  else onTestFinished(close);
  const lock = { pid: process.pid, port, url: `http://127.0.0.1:${port}/` };
  await writeFile(join(dataDir, "lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
}
