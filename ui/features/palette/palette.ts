/** What the palette shows: rows that fit the text, the actions of one row, or a text that an action wants. */

import { useTimeoutFn } from "@vueuse/core";
import { computed, nextTick, onMounted, ref, shallowRef, watch } from "vue";
import { useRouter } from "vue-router";
import { api } from "../../client.ts";
import { useLatest } from "../../state/latest.ts";
import { offers } from "../../state/offers.ts";
import type { Project, SearchAnswer } from "../../wire.ts";
import { findPlaces, isLine, type Place } from "../code/places.ts";
import type { SavedSearch } from "../notes/notes.ts";
import {
  actionRows,
  inSession,
  modelRows,
  type PaletteRow,
  pathRows,
  placeRows,
  projectRows,
  screenRows,
  searchRows,
  sessionRows,
  toolRows,
} from "./palette-rows.ts";
import { rank, scored } from "./rank.ts";
import { paletteText } from "./words/index.ts";

/** The sign that keeps to one kind. Pasted code has none: it is indented, or a comment. */
export const prefixOf = (text: string): string | undefined => /^(?:[>#@]|\/(?![/*]))/.exec(text)?.[0];

/** Rows of one kind that match best, with the best of their scores. Scattered letters (below 2) count where nothing else matches. */
function best(rows: readonly PaletteRow[], typed: string, most: number): { rows: PaletteRow[]; score: number } {
  const found = scored(rows, typed);
  const score = found[0]?.score ?? 0;
  const kept = score < 2 ? found : found.filter((one) => one.score >= 2);
  return { rows: kept.slice(0, most).map(({ row }) => row), score };
}

export function usePalette() {
  const router = useRouter();
  const text = ref("");
  const at = ref(0);
  /** Undefined until they are known. */
  const projects = shallowRef<Project[]>();
  const searches = shallowRef<SavedSearch[]>([]);
  const found = shallowRef<SearchAnswer>();
  const places = shallowRef<readonly Place[]>([]);
  const models = shallowRef<readonly string[]>([]);
  /** The row whose actions are on show, with the previous input and selection. */
  const within = shallowRef<{ row: PaletteRow; text: string; at: number }>();
  /** The action that wants a text. */
  const asking = shallowRef<PaletteRow>();

  const rows = computed<PaletteRow[]>(() => {
    if (asking.value) return [];
    const typed = text.value.trimStart();
    const kind = prefixOf(text.value);
    const rest = typed.slice(1).trim();
    if (within.value) return rank(within.value.row.actions?.() ?? [], typed, { kept: typed === "" });
    if (kind === ">") return rank([...actionRows(), ...(rest === "" ? [] : screenRows())], rest);
    if (kind === "#") return rank(projectRows(projects.value ?? []), rest);
    if (kind === "@") return rank(toolRows(projects.value ?? []), rest);
    if (kind === "/") return [...inSession(router, rest), ...pathRows(typed)];
    const sessions = sessionRows(found.value, typed);
    if (typed === "") {
      const actions = actionRows();
      const ofPage = actions.filter((one) => one.section === paletteText("palette.page"));
      return [
        ...sessions.slice(0, 6),
        ...searchRows(searches.value),
        ...ofPage,
        ...rank(
          actions.filter((one) => !ofPage.includes(one)),
          "",
        ),
      ];
    }
    // What is here comes first, so that answers of the search never push a row away under the hand; they wait for the projects.
    const here = [
      best(projectRows(projects.value ?? []), typed, 4),
      best(searchRows(searches.value), typed, 4),
      best([...actionRows(), ...screenRows()], typed, 6),
      best(modelRows(models.value), typed, 4),
    ].sort((a, b) => b.score - a.score);
    return [
      ...pathRows(typed),
      ...here.flatMap(({ rows }) => rows),
      ...(projects.value ? [...placeRows(places.value), ...sessions] : []),
    ];
  });
  const current = computed(() => rows.value[at.value]);
  watch(rows, () => {
    at.value = Math.min(at.value, Math.max(0, rows.value.length - 1));
  });

  const q = computed(() => text.value.trim());
  const { run: look, stop } = useLatest(async (signal) => {
    const query = { q: q.value, limit: 8 };
    const [answer, files] = await Promise.all([
      api("GET /search", { query, signal }).catch(() => undefined),
      q.value === "" ? [] : findPlaces(q.value, signal, 5),
    ]);
    if (!answer || signal.aborted) return;
    found.value = answer;
    places.value = files.some(isLine) ? files.filter(isLine) : files.slice(0, 3);
  });
  const typed = useTimeoutFn(look, () => (q.value === "" ? 0 : 120), { immediate: false });
  watch(
    text,
    () => {
      if (within.value) return;
      at.value = 0;
      typed.stop();
      stop();
      if (prefixOf(text.value) === undefined && q.value.length !== 1) typed.start();
    },
    { immediate: true },
  );
  onMounted(async () => {
    if (offers("GET /searches"))
      void api("GET /searches").then(
        (all) => {
          searches.value = all;
        },
        // The plugin that saves searches is not loaded.
        () => {},
      );
    void api("GET /usage", { query: { by: "model" } }).then(
      ({ rows }) => {
        models.value = rows.map(({ key }) => key);
      },
      // Without the plugin that counts them there are none.
      () => {},
    );
    projects.value = await api("GET /projects").catch(() => []);
  });

  function enter(row: PaletteRow | undefined): boolean {
    if (within.value || !row?.actions) return false;
    within.value = { row, text: text.value, at: at.value };
    text.value = "";
    at.value = 0;
    return true;
  }
  /** One level up; false on the lowest. */
  function leave(): boolean {
    if (asking.value) {
      asking.value = undefined;
      text.value = "";
      return true;
    }
    const before = within.value;
    if (!before) return false;
    text.value = before.text;
    void nextTick(() => {
      within.value = undefined;
      at.value = before.at;
    });
    return true;
  }
  return { text, at, within, asking, rows, current, enter, leave };
}
