/** Loads sql.js when first asked: 45 ms of start-up that nobody pays before a database is opened. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import type { SqlJsStatic } from "sql.js";

export type { Database as SqlImage, SqlJsStatic, Statement as SqlStatement } from "sql.js";

/** More than it is: in one piece it is inflated a quarter sooner than in pieces of 16 KB. */
const ROOM = 2 ** 20;
let loading: Promise<SqlJsStatic> | undefined;

/** The one sql.js of this process. The 0.7 MB of WebAssembly are read and inflated (8 ms of another thread) while the script around them loads. */
export function loadSqlJs(): Promise<SqlJsStatic> {
  loading ??= load();
  return loading;
}

async function load(): Promise<SqlJsStatic> {
  const { script, wasm } = locate();
  const [{ default: initSqlJs }, bytes] = await Promise.all([
    import(/* @vite-ignore */ script) as Promise<typeof import("sql.js")>,
    wasm(),
  ]);
  const wasmBinary = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  return initSqlJs({ wasmBinary });
}

/** The one build of sql.js that is used: of the thirty megabytes of its package the built sessarc carries this copy alone. */
function locate(): { script: string; wasm: () => Promise<Buffer> } {
  if (import.meta.url.endsWith(".ts")) {
    const { resolve } = createRequire(import.meta.url);
    const script = pathToFileURL(resolve("sql.js/dist/sql-wasm.js")).href;
    return { script, wasm: () => readFile(resolve("sql.js/dist/sql-wasm.wasm")) };
  }
  const folder = new URL("./dist/sqljs/", import.meta.resolve("sessarc/package.json"));
  return {
    script: new URL("sql-wasm.cjs", folder).href,
    wasm: async () =>
      promisify(brotliDecompress)(await readFile(new URL("sql-wasm.wasm.br", folder)), { chunkSize: ROOM }),
  };
}
