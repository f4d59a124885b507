/** Nodes and machines as separate processes, for tests that kill them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { childScript } from "../scripts.ts";

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Process {
  /** The first line that it prints. */
  first: string;
  /** All lines so far. */
  lines: string[];
  errors: string[];
  ended: Promise<void>;
  kill(): Promise<void>;
}

async function start(script: Parameters<typeof childScript>[0], options: object): Promise<Process> {
  const child: ChildProcess = spawn(process.execPath, [...(await childScript(script)), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const ended = once(child, "close").then(() => {});
  if (!child.stdout || !child.stderr) throw new Error("no pipes");
  child.stderr.on("data", (text) => errors.push(String(text)));
  const first = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      lines.push(line);
      resolve(line);
    });
    void ended.then(() => reject(new Error(`${script} ended: ${errors.join("")}`)));
  });
  return {
    first,
    lines,
    errors,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export const startNode = (options: { database: string; folder: string; port: number; killAt?: number }) =>
  start("team/node-child", options);
export const startPush = (options: { home: string; data: string; user: string; killAt?: number }) =>
  start("team/push-child", options);
