/** One adapter over several folders: its own places, and folders that the user added for it. */
import type { Adapter, AdapterEnv } from "../contract/adapter.ts";
import type { AdapterFolders } from "../contract/registry.ts";
import { isInside } from "../utils/path.ts";

/**
 * An adapter that reads the places of `base` and, for each of `dirs`, those of `base` made for that folder (`Adapter.at`). All callers
 * see one adapter: its roots are the roots of all, and what is asked about a root or a log goes to the one it belongs to. Cost: a
 * comparison of paths per call. Answers `base` itself when there is nothing to add.
 */
export function withFolders(base: Adapter, { own, dirs }: AdapterFolders): Adapter {
  if (dirs.length === 0 && own) return base;
  const parts = dirs.map((dir) => ({ dir, adapter: base.at(dir) }));
  const ofPath = (path: string, env: AdapterEnv): Adapter => {
    if (own && base.roots(env).some((root) => isInside(root, path))) return base;
    return parts.find(({ dir }) => isInside(dir, path))?.adapter ?? base;
  };
  const ofRoot = (root: string, env: AdapterEnv): Adapter => {
    if (own && base.roots(env).includes(root)) return base;
    return parts.find(({ adapter }) => adapter.roots(env).includes(root))?.adapter ?? ofPath(root, env);
  };
  const { peek, usage } = base;
  return {
    ...base,
    roots: (env) => [
      ...new Set([...(own ? base.roots(env) : []), ...parts.flatMap((part) => part.adapter.roots(env))]),
    ],
    scan: (root, env) => ofRoot(root, env).scan(root, env),
    read: (ref, env) => ofPath(ref.path, env).read(ref, env),
    readMany: (refs, env) => ofPath(refs[0]?.path ?? "", env).readMany(refs, env),
    tail: (ref, cursor, env) => ofPath(ref.path, env).tail(ref, cursor, env),
    ...(peek && { peek: async (ref, env) => (await ofPath(ref.path, env).peek?.(ref, env)) ?? {} }),
    ...(usage && { usage: async (ref, env) => ofPath(ref.path, env).usage?.(ref, env) }),
  };
}
