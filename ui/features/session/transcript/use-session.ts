/** Everything one session view holds: its columns, bodies, rows, selection, search and live tail. */
import { useQuery } from "@pinia/colada";
import { useEventListener } from "@vueuse/core";
import { computed, provide, reactive, ref, triggerRef, watch } from "vue";
import { useRouter } from "vue-router";
import { api } from "../../../client.ts";
import { KINDS, type Kind } from "../../../components/base/tools.ts";
import { useLatest } from "../../../state/latest.ts";
import { offers } from "../../../state/offers.ts";
import { usePoll } from "../../../state/poll.ts";
import { useQueryState, useWriteQuery } from "../../../state/query-state.ts";
import { useThrottle } from "../../../state/throttle.ts";
import type { Message, Session } from "../../../wire.ts";
import { useLive } from "../live.ts";
import { toCausality } from "./causality.ts";
import { SESSION, type SessionContext } from "./context.ts";
import { addMessage, countKinds, cutMessages, kindAt, type Transcript, toolAt, toTranscript } from "./model.ts";
import { createPages } from "./pages.ts";
import { recall, remember } from "./position.ts";
import { keepRows, type Row, toRows } from "./rows.ts";
import { commitsDuring } from "./time-travel.ts";
import { useFind } from "./use-find.ts";

/** Milliseconds between two reads of the figures of a growing session. */
const FIGURES = 5_000;

export function useSession(id: string, openFile: SessionContext["openFile"]) {
  const router = useRouter();
  const write = useWriteQuery();
  const query = useQuery({
    key: ["session", id],
    query: ({ signal }) => api("GET /sessions/:id", { params: { id }, signal }),
  });
  const detail = computed(() => query.data.value);
  const {
    data: transcript,
    error,
    pending: loading,
    run: load,
  } = useLatest(
    async (signal): Promise<Transcript> =>
      toTranscript(await api("GET /sessions/:id/outline", { params: { id }, signal })),
  );
  const pages = createPages(id, () => transcript.value?.total ?? 0);
  void load();

  // What is shown of it.
  const kindsText = useQueryState("kinds", "");
  const kinds = computed<ReadonlySet<Kind>>({
    get: () =>
      new Set(
        kindsText.value === ""
          ? KINDS
          : kindsText.value === "none"
            ? []
            : KINDS.filter((kind) => kindsText.value.split(",").includes(kind)),
      ),
    set: (value) => {
      kindsText.value =
        value.size === KINDS.length
          ? ""
          : value.size === 0
            ? "none"
            : [...KINDS].filter((kind) => value.has(kind)).join(",");
    },
  });
  const errorsText = useQueryState("errors", "");
  const errorsOnly = computed({
    get: () => errorsText.value === "1",
    set: (value: boolean) => {
      errorsText.value = value ? "1" : "";
    },
  });
  const opened = reactive(new Set<string>());
  const unfolded = computed(
    () => new Set([...opened].filter((key) => key.startsWith("fold:")).map((key) => Number(key.slice(5)))),
  );
  const rows = computed<Row[]>((before) => {
    const model = transcript.value;
    const options = { kinds: kinds.value, errorsOnly: errorsOnly.value, unfolded: unfolded.value };
    return model ? keepRows(toRows(model, options), before) : [];
  });
  const counts = computed(() => (transcript.value ? countKinds(transcript.value) : undefined));

  // Selection, in the URL.
  const m = useQueryState("m", "", { replace: true });
  const selected = computed(() => (/^\d+$/.test(m.value) ? Number(m.value) : null));
  const scroll = ref<(seq: number, align?: "center" | "nearest") => Promise<void>>();
  function select(seq: number, options: { scroll?: boolean; replace?: boolean } = {}): void {
    write({ m: String(seq) }, options.replace ?? options.scroll === false);
    popped = false;
    if (options.scroll !== false) void scroll.value?.(seq);
  }
  // What going back in the history selects is brought into view too.
  let popped = false;
  useEventListener("popstate", () => {
    popped = true;
  });
  watch(selected, (seq) => {
    if (popped && seq !== null) void scroll.value?.(seq, "nearest");
    popped = false;
  });
  async function follow(from: number, to: number): Promise<void> {
    if (selected.value !== from)
      await router.replace({ query: { ...router.currentRoute.value.query, m: String(from) } });
    select(to);
  }

  const search = useFind({ id, transcript, rows, selected, select, opened, pages });

  // Sub-agents are shown at the call that started them.
  const subagents = computed(() => {
    const places = new Map<number, Session[]>();
    const model = transcript.value;
    if (!model) return places;
    const calls: number[] = [];
    for (let seq = 0; seq < model.total; seq++) if (toolAt(model, seq)?.role === "agent") calls.push(seq);
    for (const child of detail.value?.subagents ?? []) {
      const at = Date.parse(child.startedAt ?? "");
      const seq = calls.findLast((one) => (model.times[one] ?? 0) <= at + 2_000) ?? calls[0];
      if (seq !== undefined) places.set(seq, [...(places.get(seq) ?? []), child]);
    }
    return places;
  });

  const { data: causality, run: readCausality } = useLatest(async (signal) =>
    toCausality(await api("GET /sessions/:id/causality", { params: { id }, signal })),
  );
  const { data: made, run: readCommits } = useLatest(commitsDuring);
  const commits = computed(() => made.value ?? []);
  // Not needed to begin reading: asked for once the first rows stand.
  watch(
    () => [transcript.value !== undefined, detail.value?.project.id] as const,
    async ([ready, project]) => {
      if (!ready || project === undefined) return;
      await readCausality();
      const { session, project: owner } = detail.value ?? {};
      if (!offers("GET /git/at") || !session?.startedAt || !session.endedAt || owner?.identity.kind !== "repository")
        return;
      await readCommits(project, session.startedAt, session.endedAt);
    },
    { immediate: true },
  );

  /** A commit changes what became of an edit: the query runs again when the window gets the focus. */
  const fates = useQuery({
    key: ["session", id, "edits"],
    enabled: () =>
      offers("GET /sessions/:id/edits") &&
      transcript.value !== undefined &&
      detail.value?.project.identity.kind === "repository",
    query: ({ signal }) => api("GET /sessions/:id/edits", { params: { id }, signal }),
  });
  const edits = computed(
    () => fates.data.value && new Map(fates.data.value.edits.map((one) => [one.seq, one] as const)),
  );

  // Live.
  /** Cost and tokens are the archive's, which takes in a growing log a little later. */
  const grown = useThrottle(FIGURES, () => void query.refetch().catch(() => {}));
  const live = useLive(id, { onMessages: grow, onCut: cut });
  function grow(messages: readonly Message[]): void {
    const model = transcript.value;
    if (!model) return;
    let added = 0;
    // A gap (the archive was rebuilt meanwhile): the columns are asked for again, once.
    if (!loading.value && messages.some((message) => message.seq > model.total + messages.length)) void load();
    for (const message of messages) {
      const whole = { ...message, id: message.id ?? null, at: message.at ?? null } as Message;
      if (!addMessage(model, whole, (call) => findCall(call))) continue;
      pages.put(whole);
      added++;
    }
    if (added === 0) return;
    triggerRef(transcript);
    grown();
  }
  function cut(from: number): void {
    if (!transcript.value || from >= transcript.value.total) return;
    cutMessages(transcript.value, from);
    pages.cut(from);
    triggerRef(transcript);
  }
  function findCall(call: string): number | undefined {
    const model = transcript.value;
    if (!model) return undefined;
    for (let seq = model.total - 1, looked = 0; seq >= 0 && looked < 200; seq--, looked++) {
      if (kindAt(model, seq) === "tool_use" && pages.get(seq)?.tool_use_id === call) return seq;
    }
    return undefined;
  }
  const tail = useQueryState("tail", "");
  /** A session written to within the last minutes is likely still running. */
  const isRecent = computed(
    () =>
      detail.value?.session.live === true || Date.now() - Date.parse(detail.value?.session.endedAt ?? "") < 10 * 60_000,
  );
  watch(
    () => [transcript.value !== undefined, tail.value === "1" || isRecent.value] as const,
    ([ready, wanted]) => {
      if (!offers("GET /sessions/:id/live")) return;
      if (ready && wanted) live.open((transcript.value?.total ?? 0) - 1);
      else if (live.state.value !== "off" && !wanted) live.close();
    },
    { immediate: true },
  );

  // Whether it is live the archive says: time alone makes a session go quiet.
  usePoll(async () => {
    if (live.state.value === "live") await query.refetch();
  }, 20_000);

  const context: SessionContext = {
    id,
    detail,
    transcript,
    pages,
    rows,
    selected,
    select,
    openFile,
    follow: (from, to) => void follow(from, to),
    opened,
    toggle: (key) => {
      if (!opened.delete(key)) opened.add(key);
    },
    files: reactive({ opened: new Set<string>(), filter: "" }),
    causality,
    edits,
    find: search.find,
    words: search.words,
    hit: search.hit,
  };
  provide(SESSION, context);
  const start = (): { seq: number } | "end" | "top" => {
    if (selected.value !== null) return { seq: selected.value };
    if (tail.value === "1" || live.state.value === "live") return "end";
    const known = recall(id);
    return known === undefined ? "top" : { seq: known };
  };
  return {
    ...context,
    query,
    error,
    load,
    kinds,
    errorsOnly,
    counts,
    matches: search.matches,
    truncated: search.truncated,
    relaxed: search.relaxed,
    searching: search.searching,
    matchAt: search.matchAt,
    step: search.step,
    subagents,
    commits,
    live,
    tail,
    scroll,
    start,
    remember: (seq: number) => remember(id, seq),
  };
}
