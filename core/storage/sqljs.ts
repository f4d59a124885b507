/** Loads sql.js when first asked: loading it takes 45 ms, which only commands that open a database pay. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { SqlJsConfig, SqlJsStatic } from "sql.js";

export type { Database as SqlImage, SqlJsStatic, Statement as SqlStatement } from "sql.js";

/** Fetched and not started yet. */
let fetched: Promise<Parts> | undefined;
let started: Promise<SqlJsStatic> | undefined;
let before = () => {};

type Parts = [script: (config: SqlJsConfig) => Promise<SqlJsStatic>, wasm: ArrayBuffer];

/** Reads it, while something else loads. */
export async function fetchSqlJs(): Promise<void> {
  if (started) return;
  fetched ??= fetchParts();
  await fetched;
}

/** The one sql.js of this process. */
export function loadSqlJs(): Promise<SqlJsStatic> {
  started ??= start();
  return started;
}

async function start(): Promise<SqlJsStatic> {
  const [initSqlJs, wasmBinary] = await (fetched ?? fetchParts());
  fetched = undefined;
  prepareEngine();
  return initSqlJs({ wasmBinary });
}

/** Sets what runs right before it starts in this process, whichever thread starts it: how V8 compiles it. */
export function beforeSqlJs(run: () => void): void {
  before = run;
}

/** Call before another thread starts it. */
export function prepareEngine(): void {
  before();
}

async function fetchParts(): Promise<Parts> {
  const { script, wasm } = locate();
  const { buffer, byteOffset, byteLength } = await readFile(wasm);
  // `import()` would look through all of it for names that it might export: 15 ms, and 50 of another thread.
  const initSqlJs: typeof import("sql.js").default = createRequire(import.meta.url)(script);
  return [initSqlJs, buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer];
}

/** The one build of sql.js that is used: of the thirty megabytes of its package the built sessarc carries this copy alone. */
function locate(): { script: string; wasm: string } {
  if (import.meta.url.endsWith(".ts")) {
    const { resolve } = createRequire(import.meta.url);
    return { script: resolve("sql.js/dist/sql-wasm.js"), wasm: resolve("sql.js/dist/sql-wasm.wasm") };
  }
  const folder = new URL("./dist/sqljs/", import.meta.resolve("sessarc/package.json"));
  return {
    script: fileURLToPath(new URL("sql-wasm.cjs", folder)),
    wasm: fileURLToPath(new URL("sql-wasm.wasm", folder)),
  };
}
