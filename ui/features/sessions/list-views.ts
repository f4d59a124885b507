/** What the list of sessions can show: all of them, or what is kept of or made from some. */
import { type Component, computed, defineAsyncComponent } from "vue";
import { useRoute } from "vue-router";
import type { RouteKey } from "../../client.ts";
import { offered } from "../../state/offers.ts";
import { readQuery, useQueryState, useWriteQuery } from "../../state/query-state.ts";
import { LIST } from "../../state/sessions-place.ts";
import type { SessionsWords } from "./words/en.ts";

export type ListView = "" | "notes" | "calls" | "shares" | "hidden" | "traces";

interface ViewEntry {
  key: ListView;
  label: keyof SessionsWords;
  needs?: RouteKey;
  /** What shows it; the list itself without. */
  component?: Component<{ open?: string | undefined }>;
}

export const VIEWS = offered<ViewEntry>([
  { key: "", label: "view.all" },
  {
    key: "notes",
    label: "view.notes",
    needs: "GET /notes",
    component: defineAsyncComponent(() => import("../notes/NotesView.vue")),
  },
  {
    key: "calls",
    label: "view.calls",
    needs: "GET /insights/calls",
    component: defineAsyncComponent(() => import("./CallsView.vue")),
  },
  {
    key: "shares",
    label: "view.shares",
    needs: "GET /shares",
    component: defineAsyncComponent(() => import("../shares/SharesView.vue")),
  },
  {
    key: "hidden",
    label: "view.hidden",
    needs: "GET /rescue",
    component: defineAsyncComponent(() => import("../rescue/HiddenView.vue")),
  },
  {
    key: "traces",
    label: "view.traces",
    needs: "GET /traces",
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
