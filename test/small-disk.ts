/** A file system that is full soon, for what a full disk does. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";

/** Mounts one of `size` (`256k`, `4m`) over a folder; answers what takes it away again, undefined where the system does not let us. */
export function mountSmall(path: string, size: string): (() => void) | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return () => void execFileSync("umount", ["-l", path]);
}

/** Fills what is left into one file, to the last byte of its last block. */
export function fillDisk(path: string): void {
  const file = openSync(path, "a");
  for (let size = 65_536; size > 0; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size >>= 1;
    }
  }
  closeSync(file);
}
