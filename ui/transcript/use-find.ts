/** Search inside a session: matches, the one the reader is at, and what must open for it to be seen. */
import { computed, type Ref, ref, shallowRef, watch } from "vue";
import { api } from "../client.ts";
import { useQueryState } from "../state/query-state.ts";
import { failed } from "../state/toast.ts";
import type { SessionContext } from "./context.ts";
import { kindAt } from "./model.ts";
import { rowOf } from "./rows.ts";

type Parts = Pick<SessionContext, "id" | "transcript" | "rows" | "selected" | "select" | "opened" | "pages">;

/** Shown of a text before it is opened, at least: what is found in it needs no opening. */
const SHOWN = { lines: 3, characters: 240 };

export function useFind(session: Parts, signal: AbortSignal) {
  const { id, transcript, rows, selected, opened, pages } = session;
  const find = useQueryState("q", "", { replace: true });
  const matches = shallowRef<readonly number[]>([]);
  const truncated = ref(false);
  /** True until the answer for the present text is there. */
  const searching = ref(false);
  /** The match that was last gone to; a new object each time. */
  const hit: Ref<{ seq: number } | null> = shallowRef(null);
  watch(
    () => [find.value, transcript.value !== undefined] as const,
    async ([text, ready]) => {
      searching.value = text.trim() !== "";
      if (!searching.value) matches.value = [];
      if (!searching.value || !ready) return;
      try {
        const answer = await api("GET /sessions/:id/find", { params: { id }, query: { q: text.trim() }, signal });
        if (text !== find.value) return;
        matches.value = answer.seqs;
        truncated.value = answer.truncated;
        const here = selected.value;
        if (here !== null && answer.seqs.includes(here)) await reveal(here);
      } catch (error) {
        if (signal.aborted || text !== find.value) return;
        matches.value = [];
        failed(error);
      }
      searching.value = false;
    },
    { immediate: true },
  );
  const matchAt = computed(() =>
    selected.value === null ? -1 : matches.value.findLastIndex((seq) => seq <= (selected.value ?? 0)),
  );

  /** Opens the fold and the text in which a match stands. */
  async function reveal(seq: number): Promise<void> {
    const model = transcript.value;
    if (!model) return;
    const row = rows.value[rowOf(rows.value, seq, model)];
    if (row?.type === "fold" && seq <= row.end) opened.add(`fold:${row.seq}`);
    await pages.ensure(seq, seq);
    const wanted = find.value.trim().toLowerCase();
    const known = pages.get(seq);
    // The match may be in the text that was cut off.
    const isCut = known !== undefined && "textLength" in known && known.textLength !== undefined;
    const message = isCut && !known.text.toLowerCase().includes(wanted) ? await pages.whole(seq) : known;
    const text = message?.text ?? "";
    const kind = kindAt(model, seq);
    const first = text.split("\n", SHOWN.lines).join("\n").slice(0, SHOWN.characters);
    if (kind === "tool_use") opened.add(`args:${seq}`);
    else if (!first.toLowerCase().includes(wanted)) opened.add(`all:${seq}`);
    hit.value = { seq };
  }
  async function step(by: number): Promise<void> {
    const list = matches.value;
    if (list.length === 0) return;
    const exact = list[matchAt.value] === selected.value;
    const next = by > 0 ? matchAt.value + 1 : exact ? matchAt.value - 1 : matchAt.value;
    const seq = list[(next + list.length) % list.length];
    if (seq === undefined) return;
    await reveal(seq);
    session.select(seq, { replace: true });
  }
  return { find, matches, truncated, searching, matchAt, hit, step };
}
