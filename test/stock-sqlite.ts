/** What a stock SQLite answers about database files: the program `sqlite3`, or Node's own. One of them is required on a build server. */
import { spawn, spawnSync } from "node:child_process";

interface Native {
  DatabaseSync: new (path: string) => { prepare(sql: string): { all(): Record<string, unknown>[] }; close(): void };
}

const hasProgram = spawnSync("sqlite3", ["-version"]).status === 0;
const native = (): Native | undefined => {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
  return getBuiltinModule?.("node:sqlite") as Native | undefined;
};

/** Whether there is one. Throws with CI set when there is none. */
export const HAS_STOCK: boolean = hasProgram || native() !== undefined;
if (!HAS_STOCK && process.env.CI) throw new Error("Neither sqlite3 nor node:sqlite is there");

/** For each file the rows of `queries`, a line each, values joined by `|`. It opens the files as any program does: for writing, with their logs. */
export async function askStock(files: readonly string[], ...queries: string[]): Promise<string[][]> {
  if (!hasProgram) return files.map((file) => askNative(file, queries));
  const job = spawn("sqlite3", ["-batch", "-init", "/dev/null"], { stdio: ["pipe", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  job.stdout.on("data", (data) => {
    out += data;
  });
  job.stderr.on("data", (data) => {
    errors += data;
  });
  for (const file of files)
    job.stdin.write(`.open '${file}'\n${queries.map((query) => `${query};`).join("\n")}\n.print ==\n`);
  job.stdin.end();
  await new Promise((resolve) => job.once("close", resolve));
  const answers = out.split("==\n").slice(0, -1);
  if (answers.length !== files.length) throw new Error(`sqlite3 ended early: ${errors}`);
  if (errors) throw new Error(errors);
  return answers.map((answer) => answer.split("\n").filter((line) => line !== ""));
}

/** Opens a file, asks `query` and keeps it open. Returns what closes it. */
export async function holdStock(file: string, query: string): Promise<() => Promise<void>> {
  if (!hasProgram) {
    const db = new (native() as Native).DatabaseSync(file);
    db.prepare(query).all();
    return async () => db.close();
  }
  const job = spawn("sqlite3", ["-batch", "-init", "/dev/null", file], { stdio: ["pipe", "pipe", "inherit"] });
  const answered = new Promise((resolve) => job.stdout.once("data", resolve));
  job.stdin.write(`${query};\n`);
  await answered;
  return async () => {
    const closed = new Promise((resolve) => job.once("close", resolve));
    job.stdin.end();
    await closed;
  };
}

function askNative(file: string, queries: readonly string[]): string[] {
  const { DatabaseSync } = native() as Native;
  const db = new DatabaseSync(file);
  try {
    return queries.flatMap((query) =>
      db
        .prepare(query)
        .all()
        .map((row) => Object.values(row).join("|")),
    );
  } finally {
    db.close();
  }
}
