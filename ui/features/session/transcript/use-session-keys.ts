/** Keys of a session's screen: rows, prompts, matches, panes, causes. */
import type { Ref } from "vue";
import { useRouter } from "vue-router";
import { useKeys } from "../../../state/keys.ts";
import { usePlace } from "../../../state/sessions-place.ts";
import { type Transcript, toolAt } from "./model.ts";
import { rowOf } from "./rows.ts";
import type { useSession } from "./use-session.ts";

interface SessionKeysOptions {
  session: ReturnType<typeof useSession>;
  isReading(): boolean;
  /** The side pane as a sheet. */
  sheet: Ref<boolean>;
  togglePane(name: string): void;
  /** Closes the pane beside the transcript; false where there is none. */
  closeBeside(): boolean;
  /** The pane for what is read at a message. */
  besides(seq: number | null): "diff" | "code";
  list: Ref<{ show(seq: number, align?: "center" | "nearest"): Promise<void>; toEnd(): Promise<void> } | undefined>;
  /** First message in view. */
  first(): number | undefined;
  find(): unknown;
  print(): unknown;
}

export function useSessionKeys(options: SessionKeysOptions) {
  const router = useRouter();
  const place = usePlace();
  const { session, list, sheet, togglePane, isReading } = options;
  const { transcript, rows, selected } = session;

  function move(step: number): void {
    const length = rows.value.length;
    if (length === 0) return;
    const from =
      selected.value === null
        ? rowOf(rows.value, options.first() ?? 0) - Math.sign(step)
        : rowOf(rows.value, selected.value, transcript.value);
    const row = rows.value[Math.min(length - 1, Math.max(0, from + step))];
    if (!row) return;
    session.select(row.seq, { scroll: false, replace: true });
    void list.value?.show(row.seq, "nearest");
  }
  /** Along a link of the selected message: to what it rests on, or to what came of it. */
  const along = (ends: "causes" | "effects") => () => {
    const from = selected.value;
    const to = from === null ? undefined : session.causality.value?.[ends].get(from)?.[0]?.seq;
    return from === null || to === undefined ? false : session.follow(from, to);
  };
  /** The next thing the user said. */
  function prompt(step: number): void {
    const prompts = transcript.value?.prompts ?? [];
    const from = selected.value ?? options.first() ?? 0;
    const next = step > 0 ? prompts.find((one) => one.seq > from) : prompts.findLast((one) => one.seq < from);
    if (next) session.select(next.seq, { replace: true });
  }
  /** To the next message of a kind, or the one before. */
  function stepTo(step: number, isWanted: (model: Transcript, seq: number) => boolean): unknown {
    const model = transcript.value;
    if (!model) return false;
    const from = selected.value ?? (step > 0 ? (options.first() ?? 0) - 1 : model.total);
    for (let seq = from + step; seq >= 0 && seq < model.total; seq += step)
      if (isWanted(model, seq)) return session.select(seq, { replace: true });
    return false;
  }
  const stepEdit = (step: number) =>
    stepTo(step, (model, seq) => /^(edit|write|patch)$/.test(toolAt(model, seq)?.role ?? ""));
  /** A failed result is shown in its call's row: there it is gone to. */
  const stepError = (step: number) =>
    stepTo(step, (model, seq) => {
      const result = toolAt(model, seq) ? (model.partner[seq] ?? -1) : seq;
      return model.errors.has(result) && (result === seq ? (model.partner[seq] ?? -1) < 0 : true);
    });
  /** One level up: out of the pane, out of the message, to the list. */
  function leave(): unknown {
    // Dialogs and menus close themselves first.
    if (document.querySelector("[role=dialog], [role=menu]")) return false;
    if (isReading() && options.closeBeside()) return;
    if (isReading() && selected.value !== null)
      return router.replace({ query: { ...router.currentRoute.value.query, m: undefined } });
    if (place) place.left.value = session.id;
    return router.push(place?.back.value ?? { name: "sessions" });
  }
  /** A dialog has the keys; the side pane's own sheet leaves them to the page. */
  const isCovered = () => document.querySelector("[role=dialog][data-state=open]") !== null && !sheet.value;
  const reading = (run: () => unknown) => () => (isReading() && !isCovered() ? run() : false);
  useKeys([
    { keys: "j", label: "keys.next", run: reading(() => move(1)) },
    { keys: "k", label: "keys.previous", run: reading(() => move(-1)) },
    { keys: "J", label: "keys.nextPrompt", run: reading(() => prompt(1)) },
    { keys: "K", label: "keys.previousPrompt", run: reading(() => prompt(-1)) },
    { keys: "f", label: "keys.find", run: reading(options.find) },
    { keys: "n", label: "keys.nextMatch", run: reading(() => session.step(1)) },
    { keys: "N", label: "keys.previousMatch", run: reading(() => session.step(-1)) },
    { keys: "d", label: "keys.diff", run: reading(() => togglePane(options.besides(selected.value))) },
    { keys: "o", label: "keys.outline", run: reading(() => togglePane("outline")) },
    { keys: "w", label: "keys.nextEdit", run: reading(() => stepEdit(1)) },
    { keys: "W", label: "keys.previousEdit", run: reading(() => stepEdit(-1)) },
    { keys: "x", label: "keys.nextError", run: reading(() => stepError(1)) },
    { keys: "X", label: "keys.previousError", run: reading(() => stepError(-1)) },
    { keys: "c", label: "keys.cause", run: reading(along("causes")) },
    { keys: "e", label: "keys.effect", run: reading(along("effects")) },
    { keys: "alt+ArrowLeft", label: "keys.back", run: () => router.back() },
    { keys: "End", label: "keys.end", run: reading(() => void list.value?.toEnd()) },
    { keys: "Home", label: "keys.start", run: reading(() => void list.value?.show(0)) },
    { keys: "mod+p", label: "action.print", always: true, run: () => (isReading() ? void options.print() : false) },
    { keys: "Escape", run: leave },
  ]);
  return { stepEdit, stepError };
}
