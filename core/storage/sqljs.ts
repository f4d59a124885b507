/** Loads sql.js when first asked: 45 ms of start-up that nobody pays before a database is opened. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { SqlJsStatic } from "sql.js";

export type { Database as SqlImage, SqlJsStatic, Statement as SqlStatement } from "sql.js";

let loading: Promise<SqlJsStatic> | undefined;

/** The one sql.js of this process. The 0.7 MB of WebAssembly are read while the script around them loads. */
export function loadSqlJs(): Promise<SqlJsStatic> {
  loading ??= load();
  return loading;
}

async function load(): Promise<SqlJsStatic> {
  const wasm = readFile(createRequire(import.meta.url).resolve("sql.js/dist/sql-wasm.wasm"));
  const [{ default: initSqlJs }, bytes] = await Promise.all([import("sql.js"), wasm]);
  const wasmBinary = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  return initSqlJs({ wasmBinary });
}
