/** A real process that writes a SQLite database in WAL mode, as the assistants do: python's or node's own SQLite, whichever is here. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const PYTHON = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    sql, params = json.loads(line)
    print(json.dumps(db.execute(sql, params).fetchall()), flush=True)
`;
const NODE = `
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(process.argv[1]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [sql, params] = JSON.parse(line);
  console.log(JSON.stringify(db.prepare(sql).all(...params).map(Object.values)));
});
`;

const works = (command: string, args: string[]) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const program: string[] | undefined = works("python3", ["-c", "import sqlite3"])
  ? ["python3", "-c", PYTHON]
  : works(process.execPath, ["-e", 'require("node:sqlite")'])
    ? [process.execPath, "-e", NODE]
    : undefined;

export const canWrite = program !== undefined;

export type Value = string | number | null;

export interface Writer {
  process: ChildProcess;
  /** Runs one statement, in the order of calls; resolves with its rows when it is done. */
  run(sql: string, ...params: Value[]): Promise<unknown[][]>;
}

/** Opens an existing database in its own process; nothing is checkpointed unless `run` does it. Ended after the test. */
export async function openWriter(path: string): Promise<Writer> {
  const [command = "", ...args] = program ?? [];
  const child = spawn(command, [...args, path], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const run = async (sql: string, ...params: Value[]) => {
    child.stdin.write(`${JSON.stringify([sql, params])}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`The writer ended at: ${sql}`);
    return JSON.parse(value) as unknown[][];
  };
  await run("pragma journal_mode = wal");
  await run("pragma wal_autocheckpoint = 0");
  return { process: child, run };
}
