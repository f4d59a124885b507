/** For scripts that tests run: a SIGKILL, without a word, before the nth call that changes something on the disk. */
import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/** The first `open` of a file to write stands for its writes. */
const CHANGES = ["rename", "mkdir", "rm", "rmdir", "unlink", "symlink", "link", "chmod", "open", "writeFile"];

/** Counts while `armed`. Import it before what is to be killed. */
export function killBefore(nth: number): { armed: boolean; calls: number } {
  const state = { armed: false, calls: 0 };
  const arm = (owner: object, name: string) => {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== "function") return;
    Reflect.set(owner, name, (...args: unknown[]) => {
      if (state.armed && ++state.calls === nth) process.kill(process.pid, "SIGKILL");
      return Reflect.apply(original, owner, args);
    });
  };
  for (const name of CHANGES) {
    arm(promises, name);
    arm(fs, `${name}Sync`);
  }
  syncBuiltinESMExports();
  return state;
}
