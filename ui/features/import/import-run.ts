/** The import of this page: started here, or found running after a reload. Goes on when the page shows something else. */
import { computed, readonly, ref, shallowRef } from "vue";
import type { FollowFrame, ImportReport, SessionOutcome } from "../../../plugins/index.ts";
import { ApiError, api, type BodyOf, request } from "../../client.ts";
import { readFrames } from "../../state/import-frames.ts";
import { useService } from "../../state/service.ts";
import { readStored, writeStored } from "../../state/settings.ts";

export type { SessionOutcome };

/** As `POST /import` streams it, whether from the start or from the middle. */
type Frame = FollowFrame | { type: "error"; code: string; message: string };
type Progress = Extract<Frame, { type: "progress" }>;

/** What was requested: for the rows of a reloaded page, and to import the rest. */
interface Asked {
  body: BodyOf<"POST /import">;
  /** Messages expected of the chosen sessions; null when not counted. */
  estimate: number | null;
}

const progress = shallowRef<Progress>();
const report = shallowRef<ImportReport>();
const problem = shallowRef<ApiError>();
const cancelling = ref(false);
const asked = shallowRef<Asked | undefined>(
  readStored<Asked | undefined>("sessarc:import-asked", undefined, "sessionStorage"),
);
/** Frames arrive faster than a reader can follow: the page updates ten times a second. */
const reading = new Set<string>();
const outcomes = new Map<string, SessionOutcome>();
const told = ref(0);
let telling = false;
let busy = false;
const DONE = "sessarc:last-import";

function tell(): void {
  if (telling) return;
  telling = true;
  setTimeout(() => {
    telling = false;
    told.value++;
  }, 100);
}
function settle(one: SessionOutcome): void {
  reading.delete(one.id);
  outcomes.set(one.id, one);
}

function show(frame: Progress | undefined): void {
  progress.value = frame;
  useService().follow(frame);
}

function take(frame: Frame): void {
  if (frame.type === "progress") show(frame);
  else if (frame.type === "error") problem.value = new ApiError({ status: 500, ...frame });
  else if (frame.type === "done") {
    const { type: _, ...rest } = frame;
    report.value = rest;
    writeStored(DONE, rest, "sessionStorage");
  } else if (frame.type !== "idle") {
    if (frame.type === "session") settle(frame);
    else if (frame.type === "reading") for (const id of frame.ids) reading.add(id);
    else {
      for (const id of frame.reading) reading.add(id);
      for (const one of frame.sessions) settle(one);
    }
    tell();
  }
}

function begin(): void {
  busy = true;
  reading.clear();
  outcomes.clear();
  told.value++;
  problem.value = undefined;
  cancelling.value = false;
}
/** The rail shows the last number until the service answers that nothing runs. */
function end(): void {
  progress.value = undefined;
  cancelling.value = false;
  busy = false;
  const service = useService();
  void service.refresh().finally(() => {
    if (!busy) service.follow(undefined);
  });
}

async function start(body: BodyOf<"POST /import">, estimate: number | null = null): Promise<void> {
  if (busy) return;
  begin();
  report.value = undefined;
  asked.value = { body, estimate };
  writeStored("sessarc:import-asked", asked.value, "sessionStorage");
  show({ type: "progress", done: 0, total: 0, bytes: 0, bytesTotal: 0, rate: 0, etaMs: null, current: null });
  try {
    const response = await request("POST /import", { body, headers: { accept: "text/event-stream" } });
    for await (const frame of readFrames<Frame>(response)) take(frame);
  } catch (error) {
    problem.value =
      error instanceof ApiError ? error : new ApiError({ status: 0, code: "INTERRUPTED", message: String(error) });
  } finally {
    end();
  }
}

/**
 * After a reload, or when the stream broke: follows the import that runs, from what is done of it to its end. Answers whether one ran.
 * The last report stands again when none does.
 */
async function attach(): Promise<boolean> {
  if (busy) return true;
  const response = await request("GET /import/status", { headers: { accept: "text/event-stream" } });
  let ran = false;
  try {
    for await (const frame of readFrames<Frame>(response)) {
      if (busy && !ran) return true; // started here meanwhile
      if (!ran && frame.type === "outcomes") {
        ran = true;
        begin();
        report.value = undefined;
      }
      take(frame);
    }
  } finally {
    if (ran) end();
  }
  report.value ??= readStored<ImportReport | undefined>(DONE, undefined, "sessionStorage");
  return ran;
}

/** Imported sessions are retained. The stream then ends with the report. */
async function cancel(): Promise<void> {
  cancelling.value = true;
  try {
    await api("POST /import/cancel", {});
  } catch (error) {
    cancelling.value = false;
    throw error;
  }
}

export const useImport = () => ({
  progress: readonly(progress),
  cancelling: readonly(cancelling),
  report: readonly(report),
  problem: readonly(problem),
  asked: readonly(asked),
  isRunning: computed(() => progress.value !== undefined),
  /** What is known of a session now; read inside a computed, it follows the run. */
  outcomeOf: (id: string): SessionOutcome | undefined => (told.value >= 0 ? outcomes.get(id) : undefined),
  isReading: (id: string): boolean => told.value >= 0 && reading.has(id),
  start,
  attach,
  cancel,
});
