/** Loaded into a process of the built package: a SIGKILL before the nth call that changes something on the disk (`SESSARC_KILL_AT`), in any thread. */
import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const nth = Number(process.env.SESSARC_KILL_AT);
const CHANGES = ["rename", "mkdir", "rm", "unlink", "link", "open", "writeFile", "utimes"];
const SYNC = ["renameSync", "mkdirSync", "rmSync", "unlinkSync", "openSync", "writeSync", "fsyncSync", "ftruncateSync"];
let calls = 0;
const arm = (owner, name) => {
  const original = owner[name];
  owner[name] = (...args) => {
    if (++calls === nth) process.kill(process.pid, "SIGKILL");
    return original.apply(owner, args);
  };
};
for (const name of CHANGES) arm(promises, name);
for (const name of SYNC) arm(fs, name);
syncBuiltinESMExports();
