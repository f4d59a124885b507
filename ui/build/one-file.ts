/**
 * `scripts.br`: all scripts and styles of the page as one file, compressed. A hundred small files with much text in common take a third
 * less together than one by one. The service splits it when a page is requested (`plugins/dashboard/scripts.ts`).
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Plugin } from "vite";

export function oneFile(): Plugin {
  return {
    name: "one-file",
    apply: "build",
    // What is in the bundle has been written by now, the manifest and the notices too.
    async writeBundle({ dir = "" }, bundle) {
      const files = Object.values(bundle).filter((file) => /\.(js|css)$/.test(file.fileName));
      files.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
      const bodies = files.map((file) => Buffer.from(file.type === "chunk" ? file.code : file.source));
      // First a line that says what follows: paths and bytes.
      const index = JSON.stringify(files.map((file, i) => [file.fileName, bodies[i]?.length]));
      const all = Buffer.concat([Buffer.from(`${index}\n`), ...bodies]);
      const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: all.length };
      await writeFile(join(dir, "scripts.br"), await promisify(brotliCompress)(all, { params }));
      await Promise.all(files.map((file) => rm(join(dir, file.fileName))));
    },
  };
}
