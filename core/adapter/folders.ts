/** One adapter over several folders: its own places, and folders that the user added for it. */
import type { Adapter, AdapterEnv } from "../contract/adapter.ts";
import type { AdapterFolders } from "../contract/registry.ts";
import type { SessionRef } from "../session/session.ts";
import { isInside } from "../utils/path.ts";

/**
 * An adapter that reads the places of `base` and, for each of `dirs`, those of `base` made for that folder (`Adapter.at`). All callers
 * see one adapter: its roots are the roots of all, and what is asked about a root or a log goes to the one it belongs to. Cost: a
 * comparison of paths per call. Answers `base` itself when there is nothing to add.
 */
export function withFolders(base: Adapter, { own, dirs }: AdapterFolders): Adapter {
  if (!base.at || dirs.length === 0) return base;
  const at = base.at;
  const parts = dirs.map((dir) => ({ dir, adapter: at(dir) }));
  const ofPath = (path: string, env: AdapterEnv): Adapter => {
    if (own && base.roots(env).some((root) => isInside(root, path))) return base;
    return parts.find(({ dir }) => isInside(dir, path))?.adapter ?? base;
  };
  const ofRoot = (root: string, env: AdapterEnv): Adapter => {
    if (own && base.roots(env).includes(root)) return base;
    return parts.find(({ adapter }) => adapter.roots(env).includes(root))?.adapter ?? ofPath(root, env);
  };
  const { peek, readBatches, readMany, usage, tail, tailBatches } = base;
  return {
    ...base,
    roots: (env) => [
      ...new Set([...(own ? base.roots(env) : []), ...parts.flatMap((part) => part.adapter.roots(env))]),
    ],
    scan: (root, env) => ofRoot(root, env).scan(root, env),
    read: (ref, env) => ofPath(ref.path, env).read(ref, env),
    ...(peek && { peek: async (ref, env) => (await ofPath(ref.path, env).peek?.(ref, env)) ?? {} }),
    ...(usage && { usage: async (ref, env) => ofPath(ref.path, env).usage?.(ref, env) }),
    ...(readBatches && { readBatches: (ref, env) => (ofPath(ref.path, env).readBatches ?? readBatches)(ref, env) }),
    ...(tail && { tail: (ref, cursor, env) => (ofPath(ref.path, env).tail ?? tail)(ref, cursor, env) }),
    ...(tailBatches && {
      tailBatches: (ref, cursor, env) => (ofPath(ref.path, env).tailBatches ?? tailBatches)(ref, cursor, env),
    }),
    ...(readMany && {
      async *readMany(refs, env) {
        const groups = new Map<Adapter, SessionRef[]>();
        for (const ref of refs) {
          const owner = ofPath(ref.path, env);
          const group = groups.get(owner);
          if (group) group.push(ref);
          else groups.set(owner, [ref]);
        }
        for (const [owner, group] of groups) yield* (owner.readMany ?? readMany)(group, env);
      },
    }),
  };
}
