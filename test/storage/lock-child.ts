/** Takes and releases the lock of the folder it is given, on command. */
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { acquireLock, type Lock } from "../../core/storage/lock.ts";

const home = process.argv[2] as string;
await mkdir(home, { recursive: true });
let lock: Lock | undefined;
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "acquire") {
    const answer = await acquireLock(home).then(
      (taken) => {
        lock = taken;
        return "got";
      },
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
    console.log(answer);
  } else {
    await lock?.release();
    lock = undefined;
    console.log("released");
  }
}
