/** Which version `at` means. */
import { type Kernel, SessarcError } from "sessarc";
import { byTime, type FileVersion, idOf, toMs } from "./version.ts";

/** The version a time, a session, a message or a commit means; without `at` the newest one in which the file was there. Oldest first. */
export async function chooseVersion(
  kernel: Kernel,
  versions: readonly FileVersion[],
  at: string | undefined,
): Promise<FileVersion | undefined> {
  const there = versions.filter(({ source }) => source !== "gone").sort(byTime);
  if (at === undefined) return there.at(-1);
  const named = there.filter((one) => idOf(one) === at).at(-1);
  if (named) return named;
  if (/^\d{4}-\d\d-\d\d/.test(at)) {
    const ms = Date.parse(at);
    if (!Number.isFinite(ms)) throw new SessarcError("INVALID_INPUT", { reason: "Not an ISO 8601 time" });
    // Nothing where the file was gone at that time.
    const last = versions.filter((one) => one.at !== null && toMs(one.at) <= ms).at(-1);
    return last?.source === "gone" ? undefined : last;
  }
  if (/^[0-9a-f]{7,64}$/i.test(at)) {
    const commit = there.filter((one) => one.commit?.startsWith(at.toLowerCase())).at(-1);
    if (commit) return commit;
  }
  const [, name = at, seq] = /^(.*)#(\d{1,9})$/.exec(at) ?? [];
  const id = (await kernel.inject("archive").find(name))?.id ?? findBegun(there, name);
  const own = there.filter(({ session }) => session?.id === id);
  return seq === undefined ? own.at(-1) : own.filter((one) => one.seq !== null && one.seq <= Number(seq)).at(-1);
}

/** The one session among these whose key begins so, as lists print it. */
function findBegun(versions: readonly FileVersion[], name: string): string {
  const ids = new Set(versions.flatMap(({ session }) => session?.id ?? []));
  const begun = [...ids].filter((id) => id.slice(id.indexOf(":") + 1).startsWith(name));
  return (begun.length === 1 ? begun[0] : undefined) ?? name;
}
