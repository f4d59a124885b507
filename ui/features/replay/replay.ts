/** The replay of a session: its plan, the selected step, and running steps. */

import { useQuery } from "@pinia/colada";
import { computed, type Ref, shallowReactive } from "vue";
import { type Answer, api } from "../../client.ts";
import { useAct } from "../../state/act.ts";
import { useQueryState } from "../../state/query-state.ts";
import { useRefresh } from "../../state/refresh.ts";
import { toast } from "../../state/toast.ts";
import { replayText } from "./words/index.ts";

type Plan = Answer<"GET /sessions/:id/replay-plan">;
export type Step = Plan["steps"][number];
type Named = Pick<Step, "seq" | "source">;

/** How the address names a step: two sessions number their messages alike. */
export const keyOf = ({ seq, source }: Named): string => (source === null ? String(seq) : `${source}#${seq}`);

export function useReplay(id: Readonly<Ref<string>>) {
  const ask = useRefresh();
  const query = useQuery({
    key: () => ["replay", id.value, "plan"],
    query: ({ signal }) => api("GET /sessions/:id/replay-plan", { params: { id: id.value }, signal }),
  });
  const plan = computed(() => query.data.value);
  const steps = computed(() => plan.value?.steps ?? []);
  const next = computed(() => {
    const at = plan.value?.next;
    return at ? steps.value.find((one) => keyOf(one) === keyOf(at)) : undefined;
  });
  const chosen = useQueryState("step", "", { replace: true });
  const here = computed(
    () =>
      steps.value.find((one) => keyOf(one) === chosen.value) ??
      next.value ??
      steps.value.at(plan.value?.sandbox ? -1 : 0),
  );
  /** An edit that failed in the original session: the replay leaves it out, and still matches the recording. */
  const failedThen = (step: Step) => step.supported && !step.due;
  /** The replay is beyond the step: it was done or left out. */
  const isPast = (step: Step) =>
    plan.value?.sandbox !== null &&
    (next.value === undefined || steps.value.indexOf(step) < steps.value.indexOf(next.value));
  const isNext = (step: Step) => next.value !== undefined && keyOf(step) === keyOf(next.value);

  const { busy, act } = useAct();
  const refresh = () => ask({ key: ["replay", id.value] });
  /** Runs the request, then reloads the plan, even after a failure. */
  const change = <T>(run: () => Promise<T>) =>
    act(async () => {
      try {
        return await run();
      } finally {
        await refresh();
      }
    });
  const send = (step: Named, more: { confirmCommand?: string; skip?: boolean } = {}) =>
    api("POST /replay/step", { body: { sessionId: id.value, seq: step.seq, source: step.source, ...more } });
  /** What a step would do to the sandbox as it is now. */
  const readPreview = ({ seq, source }: Named, signal?: AbortSignal) =>
    api("GET /replay/preview", {
      query: { sessionId: id.value, seq: String(seq), ...(source !== null && { source }) },
      ...(signal && { signal }),
    });
  /** What the edits did that were done one by one on this page. */
  const diffs = shallowReactive(new Map<string, string>());
  /** Goes on to what comes next. */
  const follow = () => {
    chosen.value = "";
  };

  return {
    query,
    plan,
    steps,
    next,
    here,
    busy,
    readPreview,
    diffOf: (step: Named) => diffs.get(keyOf(step)),
    isNext,
    isPast,
    failedThen,
    choose: (step: Named) => {
      chosen.value = keyOf(step);
    },
    start: (allowUnisolated: boolean) =>
      change(async () => {
        await api("POST /replay/start", { body: { sessionId: id.value, allowUnisolated } });
        diffs.clear();
        follow();
      }),
    /** Stays at the step, so that what came of it is seen. An edit that does not fit is only shown. */
    run: (step: Step, confirmCommand?: string) =>
      change(async () => {
        const key = keyOf(step);
        const preview = confirmCommand === undefined ? await readPreview(step) : undefined;
        chosen.value = key;
        if (preview && !preview.applies) return;
        await send(step, confirmCommand === undefined ? {} : { confirmCommand });
        if (preview?.diff) diffs.set(key, preview.diff);
      }),
    skip: (step: Step) => change(() => send(step, { skip: true }).then(follow)),
    back: () => change(() => api("POST /replay/back", { body: { sessionId: id.value } }).then(follow)),
    open: () => act(() => api("POST /replay/open", { body: { sessionId: id.value } })),
    /** All edits up to and with `last`. Left out: what cannot be replayed or failed in the original too. A command or a new failure stops it. */
    runTo: (last: Step) =>
      change(async () => {
        const from = steps.value.findIndex(isNext);
        const until = steps.value.indexOf(last);
        for (const step of steps.value.slice(from, until + 1)) {
          if (step.kind === "command" && step.supported) {
            chosen.value = keyOf(step);
            toast(replayText("stopped", { seq: step.seq }));
            return;
          }
          diffs.delete(keyOf(step));
          const { state, matchesRecording } = await send(step, step.supported ? {} : { skip: true });
          chosen.value = keyOf(step);
          if (state === "failed" && matchesRecording !== true) return;
        }
      }),
  };
}
export type Replay = ReturnType<typeof useReplay>;
