/** Checks what third-party adapters return at run time: it enters the archive, and an error must name the adapter. */
import type { Adapter } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import { codeOf } from "../utils/gone.ts";

/**
 * The same adapter; where the file system fails while `roots` looks, it answers what it answered last: a dead mount is a state of a place, and no
 * reason to fail the caller. `report` gets the reason, and undefined once it works again.
 */
export function keepRoots(adapter: Adapter, report: (reason: string | undefined) => void): Adapter {
  let last: string[] = [];
  return {
    ...adapter,
    roots(env) {
      try {
        last = adapter.roots(env);
        report(undefined);
      } catch (error) {
        if (!/^E[A-Z]+$/.test(codeOf(error))) throw error;
        report(messageOf(error));
      }
      return last;
    },
  };
}

/**
 * Returns the same adapter with checks on what `roots` and `scan` return. Throws ADAPTER_INVALID naming adapter, member and remedy. Cost: a few
 * comparisons per session.
 */
export function heedAdapter(adapter: Adapter): Adapter {
  const { name, at } = adapter;
  const refuse = (member: string, reason: string, remedy: string) =>
    new SessarcError("ADAPTER_INVALID", { adapter: name, member, reason, remedy });
  return {
    ...adapter,
    roots(env) {
      const roots: unknown = adapter.roots(env);
      if (Array.isArray(roots) && roots.every((root) => typeof root === "string" && root !== "")) return roots;
      throw refuse("roots", `answered ${JSON.stringify(roots)}`, "Answer a list of folders: roots: () => [folder].");
    },
    async *scan(root, env) {
      for await (const ref of adapter.scan(root, env)) {
        if (typeof ref.key !== "string" || ref.key === "")
          throw refuse(
            "scan",
            `yields a session with the key ${JSON.stringify(ref.key)}`,
            "A key is a text, the same at each scan.",
          );
        if (typeof ref.path !== "string" || ref.path === "")
          throw refuse(
            "scan",
            `yields session ${JSON.stringify(ref.key)} without a path`,
            "Set path to the log itself.",
          );
        yield ref;
      }
    },
    at: (dir) => heedAdapter(at(dir)),
  };
}
