/** State in the URL: `useQueryState("days", "30")`. Equal to the default means absent from the URL. */
import { computed, type InjectionKey, inject, onScopeDispose, provide, type Ref, type WritableComputedRef } from "vue";
import { type LocationQuery, type LocationQueryRaw, type Router, useRoute, useRouter } from "vue-router";
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
  const nest = inject(NEST, undefined);
  return computed({
    get() {
      const value = readQuery(route.query, nest?.value)[name];
      return typeof value === "string" ? value : fallback;
    },
    set: (value) => write({ [name]: value === fallback ? undefined : value }, options.replace),
  });
}

const NEST: InjectionKey<Readonly<Ref<string | undefined>>> = Symbol("nest");

/**
 * Components below keep their state inside one parameter of the address (`?list=tool%3Dcodex`) while `parameter` names it: beside
 * another screen, whose parameters may have the same names.
 */
export const nestQuery = (parameter: Readonly<Ref<string | undefined>>): void => provide(NEST, parameter);

/** The parameters inside `parameter`, or all of the address without one. */
export function readQuery(query: LocationQuery, parameter?: string): LocationQuery {
  if (parameter === undefined) return query;
  const text = query[parameter];
  return typeof text === "string" ? Object.fromEntries(new URLSearchParams(text)) : {};
}

/** Writes several values at once, for as long as the screen stands: what comes late (a timer, an answer) belongs to none. */
export function useWriteQuery(): (values: Record<string, string | undefined>, replace?: boolean) => void {
  const router = useRouter();
  const nest = inject(NEST, undefined);
  let left = false;
  onScopeDispose(() => {
    left = true;
  }, true);
  return (values, replace) => {
    if (!left) writeQuery(router, values, replace, nest?.value);
  };
}

let pending: { values: Record<string, Record<string, string | undefined>>; replace: boolean } | undefined;

/** Changes of one turn become one entry of the history. */
function writeQuery(
  router: Router,
  values: Record<string, string | undefined>,
  replace = false,
  parameter: string = "",
): void {
  if (pending) {
    pending.values[parameter] = { ...pending.values[parameter], ...values };
    pending.replace &&= replace;
    return;
  }
  pending = { values: { [parameter]: values }, replace };
  const path = router.currentRoute.value.path;
  queueMicrotask(() => {
    const change = pending;
    pending = undefined;
    const now = boundFor() ?? router.currentRoute.value;
    // The user is leaving the page, or has left it: the pending change belongs to the old page.
    if (!change || now.path !== path) return;
    const { "": own = {}, ...nested } = change.values;
    const query = changed(now.query, own);
    for (const [name, inside] of Object.entries(nested)) {
      const text = toText(changed(readQuery(now.query, name), inside));
      if (text === "") delete query[name];
      else query[name] = text;
    }
    void router[change.replace ? "replace" : "push"]({ path, query });
  });
}

function changed(query: LocationQuery, values: Record<string, string | undefined>): LocationQueryRaw {
  const next: LocationQueryRaw = { ...query };
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined || value === "") delete next[key];
    else next[key] = value;
  }
  return next;
}

/** The parameters as one text, as `nestQuery` reads it. */
export const toText = (query: LocationQueryRaw): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
  ).toString();
