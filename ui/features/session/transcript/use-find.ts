/** Search inside a session: matches, the one the reader is at, and what must open for it to be seen. */
import { computed, type Ref, shallowRef, watch } from "vue";
import { api } from "../../../client.ts";
import { useLatest } from "../../../state/latest.ts";
import { useQueryState } from "../../../state/query-state.ts";
import { failed } from "../../../state/toast.ts";
import type { SessionContext } from "./context.ts";
import { kindAt } from "./model.ts";
import { rowOf } from "./rows.ts";

type Parts = Pick<SessionContext, "id" | "transcript" | "rows" | "selected" | "select" | "opened" | "pages">;

/** Shown of a text before it is opened, at least: what is found in it needs no opening. */
const SHOWN = { lines: 3, characters: 240 };

export function useFind(session: Parts) {
  const { id, transcript, rows, selected, opened, pages } = session;
  const find = useQueryState("q", "", { replace: true });
  const text = computed(() => find.value.trim());
  /** The match that was last gone to; a new object each time. */
  const hit: Ref<{ seq: number } | null> = shallowRef(null);
  const { data, error, pending, run } = useLatest(async (signal) => {
    if (text.value === "") return undefined;
    const answer = await api("GET /sessions/:id/find", { params: { id }, query: { q: text.value }, signal });
    const here = selected.value;
    if (here !== null && answer.seqs.includes(here)) await reveal(here, answer.words);
    return answer;
  });
  const isReady = computed(() => transcript.value !== undefined);
  watch([text, isReady], () => isReady.value && run(), { immediate: true });
  watch(error, (failure) => failure !== undefined && failed(failure));
  const found = computed(() => (text.value === "" || error.value !== undefined ? undefined : data.value));
  const matches = computed<readonly number[]>(() => found.value?.seqs ?? []);
  /** What is marked: words and phrases of the query, as the service reads it. */
  const words = computed<readonly string[]>(() => found.value?.words ?? []);
  /** No message has all of the words: the matches have one of them. */
  const relaxed = computed(() => found.value?.relaxed ?? false);
  const truncated = computed(() => found.value?.truncated ?? false);
  /** True until the answer for the present text is there. */
  const searching = computed(() => text.value !== "" && (pending.value || !isReady.value));
  const matchAt = computed(() =>
    selected.value === null ? -1 : matches.value.findLastIndex((seq) => seq <= (selected.value ?? 0)),
  );

  /** Opens the fold and the text in which a match stands. */
  async function reveal(seq: number, words: readonly string[]): Promise<void> {
    const model = transcript.value;
    if (!model) return;
    const row = rows.value[rowOf(rows.value, seq, model)];
    if (row?.type === "fold" && seq <= row.end) opened.add(`fold:${row.seq}`);
    await pages.ensure(seq, seq);
    const wanted = words.map((word) => word.toLowerCase());
    const holds = (text: string) => wanted.every((word) => text.toLowerCase().includes(word));
    const known = pages.get(seq);
    // The match may be in the text that was cut off.
    const isCut = known !== undefined && "textLength" in known && known.textLength !== undefined;
    const message = isCut && !holds(known.text) ? await pages.whole(seq) : known;
    const text = message?.text ?? "";
    const kind = kindAt(model, seq);
    const first = text.split("\n", SHOWN.lines).join("\n").slice(0, SHOWN.characters);
    if (kind === "tool_use") opened.add(`args:${seq}`);
    else if (!holds(first)) opened.add(`all:${seq}`);
    hit.value = { seq };
  }
  async function step(by: number): Promise<void> {
    const list = matches.value;
    if (list.length === 0) return;
    const exact = list[matchAt.value] === selected.value;
    const next = by > 0 ? matchAt.value + 1 : exact ? matchAt.value - 1 : matchAt.value;
    const seq = list[(next + list.length) % list.length];
    if (seq === undefined) return;
    await reveal(seq, words.value);
    session.select(seq, { replace: true });
  }
  return { find, words, relaxed, matches, truncated, searching, matchAt, hit, step };
}
