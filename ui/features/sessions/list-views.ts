/** What the list of sessions can show: all of them, or what is kept of or made from some. */
import { useQuery } from "@pinia/colada";
import { type Component, computed, defineAsyncComponent } from "vue";
import { useRoute } from "vue-router";
import { api, type RouteKey } from "../../client.ts";
import { offered } from "../../state/offers.ts";
import { readQuery, useQueryState, useWriteQuery } from "../../state/query-state.ts";
import { ifServed } from "../../state/served.ts";
import { LIST } from "../../state/sessions-place.ts";
import type { SessionsWords } from "./words/en.ts";

export type ListView = "" | "notes" | "calls" | "shares" | "hidden" | "traces";

interface ViewEntry {
  key: ListView;
  label: keyof SessionsWords;
  needs?: RouteKey;
  /** Whether there is anything in it; always without. */
  holds?(signal: AbortSignal): Promise<boolean>;
  /** What shows it; the list itself without. */
  component?: Component<{ open?: string | undefined }>;
}

export const VIEWS = offered<ViewEntry>([
  { key: "", label: "view.all" },
  {
    key: "notes",
    label: "view.notes",
    needs: "GET /notes",
    holds: ifServed("GET /notes", false, async (signal) => (await api("GET /notes", { query: {}, signal })).length > 0),
    component: defineAsyncComponent(() => import("../notes/NotesView.vue")),
  },
  {
    key: "calls",
    label: "view.calls",
    needs: "GET /insights/calls",
    holds: ifServed("GET /insights/calls", false, async (signal) => {
      const { total } = await api("GET /sessions", { query: { errors: "1", limit: 1 }, signal });
      return total > 0;
    }),
    component: defineAsyncComponent(() => import("./CallsView.vue")),
  },
  {
    key: "shares",
    label: "view.shares",
    needs: "GET /shares",
    holds: ifServed("GET /shares", false, async (signal) => (await api("GET /shares", { signal })).shares.length > 0),
    component: defineAsyncComponent(() => import("../shares/SharesView.vue")),
  },
  {
    key: "hidden",
    label: "view.hidden",
    needs: "GET /rescue",
    holds: ifServed("GET /rescue", false, async (signal) => {
      const { states } = await api("GET /rescue", { query: {}, signal });
      return states.gone + states.hidden + states.dying + states.reclaimed + states["folder-gone"] > 0;
    }),
    component: defineAsyncComponent(() => import("../rescue/HiddenView.vue")),
  },
  {
    key: "traces",
    label: "view.traces",
    needs: "GET /traces",
    holds: ifServed(
      "GET /traces",
      false,
      async (signal) => (await api("GET /traces", { query: { limit: 0 }, signal })).sessions > 0,
    ),
    component: defineAsyncComponent(() => import("../traces/TracesView.vue")),
  },
]);

export function useListView() {
  const route = useRoute();
  const write = useWriteQuery();
  const text = useQueryState("view", "");
  const entry = computed(() => VIEWS.find((one) => one.key === text.value) ?? VIEWS[0]);
  return {
    entry,
    /** Another view begins without the filters of the last. */
    view: computed<ListView>({
      get: () => entry.value?.key ?? "",
      set(view) {
        const query = readQuery(route.query, route.params.id === undefined ? undefined : LIST);
        const cleared = Object.fromEntries(Object.keys(query).map((name) => [name, undefined]));
        write({ ...cleared, view: view === "" ? undefined : view });
      },
    }),
  };
}

/** Views that hold something and the one on show, and the empty ones. Until the answers are there, the others count as empty. */
export function useFilledViews(shown: () => ListView) {
  const filled = useQuery({
    key: ["sessions", "filled-views"],
    query: async ({ signal }) => {
      const known = await Promise.all(
        VIEWS.map(async ({ key, holds }) => ({ key, isFilled: (await holds?.(signal)) ?? true })),
      );
      return new Set(known.flatMap(({ key, isFilled }) => (isFilled ? [key] : [])));
    },
    placeholderData: (before) => before,
  });
  const isShown = ({ key }: ViewEntry) => key === "" || key === shown() || filled.data.value?.has(key) === true;
  return {
    filled: computed(() => VIEWS.filter(isShown)),
    empty: computed(() => VIEWS.filter((one) => !isShown(one))),
  };
}
