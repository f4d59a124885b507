/** The page's scripts and styles, which the build puts into one compressed file (`ui/build/one-file.ts`). */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

type Scripts = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

/**
 * Answers a reader of files in `scripts.br` of a folder, by their path; undefined for what is not there. The first one asked for takes 6 ms
 * of a processor beside the event loop; all of them, 2 MB, are kept until the file is another.
 */
export function toScripts(): (dir: string, path: string) => Promise<Uint8Array<ArrayBuffer> | undefined> {
  let version = "";
  let scripts: Promise<Scripts> | undefined;
  return async (dir, path) => {
    const file = join(dir, "scripts.br");
    const info = await stat(file).catch(() => undefined);
    if (!info) return;
    const now = `${file} ${info.mtimeMs} ${info.size}`;
    if (now !== version || !scripts) {
      version = now;
      scripts = takeApart(file);
      scripts.catch(() => {
        version = "";
      });
    }
    return (await scripts).get(path);
  };
}

/** In it: `[[path, bytes], …]` as JSON in the first line, then their contents, concatenated. */
async function takeApart(file: string): Promise<Scripts> {
  const all = new Uint8Array(await promisify(brotliDecompress)(await readFile(file)));
  let at = all.indexOf(10) + 1;
  const index: [string, number][] = JSON.parse(new TextDecoder().decode(all.subarray(0, at)));
  return new Map(
    index.map(([path, size]) => {
      at += size;
      return [path, all.subarray(at - size, at)];
    }),
  );
}
