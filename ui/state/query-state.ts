/** State in the URL: `useQueryState("days", "30")`. Equal to the default means absent from the URL. */
import { computed, onScopeDispose, type WritableComputedRef } from "vue";
import { type LocationQueryRaw, type Router, useRoute, useRouter } from "vue-router";
import { boundFor } from "./leaving.ts";

interface QueryStateOptions {
  /** Replace the entry instead of adding one: for typing and scrubbing. */
  replace?: boolean;
}

export function useQueryState<T extends string>(
  name: string,
  fallback: NoInfer<T>,
  options?: QueryStateOptions,
): WritableComputedRef<T>;
export function useQueryState(name: string, fallback: string, options?: QueryStateOptions): WritableComputedRef<string>;
export function useQueryState(
  name: string,
  fallback: string,
  options: QueryStateOptions = {},
): WritableComputedRef<string> {
  const route = useRoute();
  const write = useWriteQuery();
  return computed({
    get: () => (typeof route.query[name] === "string" ? route.query[name] : fallback),
    set: (value) => write({ [name]: value === fallback ? undefined : value }, options.replace),
  });
}

/** Writes several values at once, for as long as the screen stands: what comes late (a timer, an answer) belongs to none. */
export function useWriteQuery(): (values: Record<string, string | undefined>, replace?: boolean) => void {
  const router = useRouter();
  let left = false;
  onScopeDispose(() => {
    left = true;
  }, true);
  return (values, replace) => {
    if (!left) writeQuery(router, values, replace);
  };
}

let pending: { values: Record<string, string | undefined>; replace: boolean } | undefined;

/** Changes of one turn become one entry of the history. */
function writeQuery(router: Router, values: Record<string, string | undefined>, replace = false): void {
  if (pending) {
    Object.assign(pending.values, values);
    pending.replace &&= replace;
    return;
  }
  pending = { values, replace };
  const path = router.currentRoute.value.path;
  queueMicrotask(() => {
    const change = pending;
    pending = undefined;
    const now = boundFor() ?? router.currentRoute.value;
    // The user is leaving the page, or has left it: the pending change belongs to the old page.
    if (!change || now.path !== path) return;
    const query: LocationQueryRaw = { ...now.query };
    for (const [key, value] of Object.entries(change.values)) {
      if (value === undefined || value === "") delete query[key];
      else query[key] = value;
    }
    void router[change.replace ? "replace" : "push"]({ path, query });
  });
}
