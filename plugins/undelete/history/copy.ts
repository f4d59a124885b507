/** A copy that an assistant stored of a file. */
import { lstat } from "node:fs/promises";
import { ifThere, openRegular } from "sessarc/files";

const MOST = 64 * 2 ** 20;

/** Undefined where there is none, or it is not a plain file, or huge. The bytes are read when they are wanted. */
export async function readCopy(
  path: string,
): Promise<{ mode: number; load: () => Promise<Buffer | undefined> } | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (!info?.isFile() || info.size > MOST) return undefined;
  const load = async () => {
    const file = await ifThere(openRegular(path));
    if (!file) return undefined;
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  };
  return { mode: info.mode & 0o777, load };
}
