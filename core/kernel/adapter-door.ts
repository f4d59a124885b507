/** Checks what third-party adapters return at run time: it enters the archive, and an error must name the adapter. */
import type { Adapter } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { codeOf } from "../utils/gone.ts";
import type { Owner } from "./stray.ts";
import { inSection } from "./watchdog.ts";

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
        report(toMessage(error));
      }
      return last;
    },
  };
}

/** The same adapter; while its code runs, the watchdog knows whose it is. */
export function watchAdapter(adapter: Adapter, owner: Owner): Adapter {
  const { at, peek, usage, retention } = adapter;
  const within = <T>(member: string, run: () => T): T => inSection({ ...owner, member }, run);
  async function* steps<T, End>(member: string, make: () => AsyncIterable<T, End>): AsyncGenerator<T, End, undefined> {
    const iterator = within(member, () => make()[Symbol.asyncIterator]());
    let isDone = false;
    try {
      for (;;) {
        const step = await within(member, () => iterator.next());
        if (step.done) {
          isDone = true;
          return step.value;
        }
        yield step.value;
      }
    } catch (error) {
      isDone = true;
      throw error;
    } finally {
      if (!isDone) await iterator.return?.();
    }
  }
  return {
    ...adapter,
    at: (dir) => watchAdapter(at(dir), owner),
    roots: (env) => within("roots", () => adapter.roots(env)),
    scan: (root, env) => steps("scan", () => adapter.scan(root, env)),
    read: (ref, env) => steps("read", () => adapter.read(ref, env)),
    async *readMany(refs, env) {
      for await (const [ref, batches] of steps("readMany", () => adapter.readMany(refs, env)))
        yield [ref, steps("readMany", () => batches)];
    },
    tail: (ref, cursor, env) => steps("tail", () => adapter.tail(ref, cursor, env)),
    ...(peek && { peek: (ref, env) => within("peek", () => peek(ref, env)) }),
    ...(usage && { usage: (ref, env) => within("usage", () => usage(ref, env)) }),
    ...(retention && { retention: (env) => within("retention", () => retention(env)) }),
  };
}

/**
 * Returns the same adapter with checks on what `roots` and `scan` return. Throws ADAPTER_INVALID naming adapter, member and remedy. Cost: a few
 * comparisons per session.
 */
export function heedAdapter(adapter: Adapter, file?: string): Adapter {
  const { name, at } = adapter;
  const refuse = (member: string, reason: string, remedy: string) =>
    new SessarcError("ADAPTER_INVALID", { adapter: name, file, member, reason, remedy });
  return {
    ...adapter,
    roots(env) {
      const roots: unknown = adapter.roots(env);
      // It may reject some time later, when nothing waits for it any more.
      if (roots instanceof Promise) {
        roots.catch(() => {});
        throw refuse("roots", "answered a promise", "Answer a list of folders at once: roots: () => [folder].");
      }
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
    at: (dir) => heedAdapter(at(dir), file),
  };
}
