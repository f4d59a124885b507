/** The import of this page: started here, or found running after a reload. Goes on when the page shows something else. */
import { computed, reactive, readonly, ref } from "vue";
import { ApiError, api, type BodyOf, request } from "../client.ts";
import { useService } from "./service.ts";

export interface ProgressFrame {
  type: "progress";
  done: number;
  total: number;
  bytes: number;
  bytesTotal: number;
  rate: number;
  etaMs: number | null;
  current: string | null;
}
export interface Report {
  imported: number;
  unchanged: number;
  skipped: number;
  failed: { id: string; code: string; message: string }[];
  messages: number;
  bytes: number;
  ms: number;
  projects: { id: string; name: string; sessions: number }[];
}
type Frame =
  | ProgressFrame
  | { type: "session"; id: string; outcome: string }
  | ({ type: "done" } & Report)
  | { type: "error"; code: string; message: string }
  | { type: "idle" };

const progress = ref<ProgressFrame>();
const outcomes = reactive(new Map<string, string>());
const report = ref<Report>();
const problem = ref<ApiError>();
let busy = false;
const KEY = "sessarc:last-import";

function take(frame: Frame): void {
  if (frame.type === "progress") progress.value = frame;
  else if (frame.type === "session") outcomes.set(frame.id, frame.outcome);
  else if (frame.type === "done") finish(frame);
  else if (frame.type === "error") problem.value = new ApiError({ status: 500, ...frame });
}
function finish(done: Report): void {
  report.value = done;
  progress.value = undefined;
  sessionStorage.setItem(KEY, JSON.stringify(done));
}

async function start(body: BodyOf<"POST /import">): Promise<void> {
  if (busy) return;
  busy = true;
  outcomes.clear();
  report.value = undefined;
  problem.value = undefined;
  progress.value = {
    type: "progress",
    done: 0,
    total: 0,
    bytes: 0,
    bytesTotal: 0,
    rate: 0,
    etaMs: null,
    current: null,
  };
  try {
    const response = await request("POST /import", { body, headers: { accept: "text/event-stream" } });
    for await (const frame of framesOf(response)) take(frame);
  } catch (error) {
    problem.value =
      error instanceof ApiError ? error : new ApiError({ status: 0, code: "INTERRUPTED", message: String(error) });
  } finally {
    progress.value = undefined;
    busy = false;
    void useService().refresh();
  }
}

async function* framesOf(response: Response): AsyncGenerator<Frame> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const step = await reader?.read();
    if (!step || step.done) return;
    text += step.value;
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const data = part
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data !== "") yield JSON.parse(data) as Frame;
    }
  }
}

/** After a reload the stream is gone: the service is asked until it is idle. Answers whether one ran. */
async function attach(): Promise<boolean> {
  if (busy) return true;
  let ran = false;
  for (;;) {
    const frame = (await api("GET /import/status")) as Frame;
    if (busy) return true;
    if (frame.type !== "progress") break;
    ran = true;
    progress.value = frame;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  const last = progress.value;
  progress.value = undefined;
  if (ran && last) {
    report.value = {
      imported: last.total,
      unchanged: 0,
      skipped: 0,
      failed: [],
      messages: 0,
      bytes: last.bytesTotal,
      ms: 0,
      projects: [],
    };
    void useService().refresh();
  } else if (!report.value) {
    const text = sessionStorage.getItem(KEY);
    if (text !== null) report.value = JSON.parse(text) as Report;
  }
  return ran;
}

export const useImport = () => ({
  progress: readonly(progress),
  outcomes: readonly(outcomes),
  report,
  problem,
  isRunning: computed(() => progress.value !== undefined),
  start,
  attach,
});
