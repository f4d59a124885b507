/** Watches the folder it is given, writes a file into it, and says what it heard. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { watchRoot } from "../../core/kernel/watch.ts";

const root = process.argv[2] as string;
const onError = (error: unknown) => console.log(`error ${(error as { code?: string }).code}`);
let heard = () => {};
const change = new Promise<void>((resolve) => {
  heard = resolve;
});
const stop = await watchRoot(
  root,
  (changes) => {
    for (const { type, path } of changes) console.log(`${type} ${path.slice(root.length + 1)}`);
    heard();
  },
  { settleMs: 20, pollMs: 20, onError },
);
const alive = setInterval(() => {}, 1_000);
await writeFile(join(root, "a"), "1");
await change;
clearInterval(alive);
await stop();
