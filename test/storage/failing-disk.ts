/** The real file system, except for calls that are set to fail. */
import type { FileHandle } from "node:fs/promises";
import * as disk from "node:fs/promises";
import type { DiskCalls } from "../../core/utils/atomic.ts";

export interface Faults {
  open?: string;
  rename?: string;
  /** Any way of writing to an open file. With `writeBytes`, so many bytes still arrive before the error. */
  write?: string;
  writeBytes?: number;
  /** fsync and fdatasync. */
  sync?: string;
  truncate?: string;
}

/** `faults` may be changed while the calls are in use. `counts.syncs` counts the fsyncs of files. */
export function failing(faults: Faults = {}): {
  calls: DiskCalls;
  faults: Faults;
  counts: { syncs: number; bytes: number };
} {
  const counts = { syncs: 0, bytes: 0 };
  const fail = (code: string, call: string) => Object.assign(new Error(`${code}: simulated, ${call}`), { code });
  const wrap = (handle: FileHandle): FileHandle =>
    new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          if (name === "write" || name === "writeFile") {
            const data = args[0] as Uint8Array | string;
            if (faults.write) {
              if (faults.writeBytes && typeof data !== "string")
                await target.write(data.subarray(0, faults.writeBytes), 0, null, args[3] as number);
              throw fail(faults.write, "write");
            }
            counts.bytes += data.length;
          }
          if (name === "sync" || name === "datasync") {
            if (faults.sync) throw fail(faults.sync, "fsync");
            counts.syncs++;
          }
          if (name === "truncate" && faults.truncate) throw fail(faults.truncate, "ftruncate");
          return value.apply(target, args);
        };
      },
    });
  const calls: DiskCalls = {
    open: async (path, flags, mode) => {
      if (faults.open && flags !== "r") throw fail(faults.open, "open");
      return wrap(await disk.open(path, flags, mode));
    },
    rename: async (from, to) => {
      if (faults.rename) throw fail(faults.rename, "rename");
      return disk.rename(from, to);
    },
    rm: disk.rm,
  };
  return { calls, faults, counts };
}
