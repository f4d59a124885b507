/** What the service is doing: the last sync, a running import, sessions being watched. One set of questions for the whole page. */
import { computed, effectScope, ref, shallowRef, watch } from "vue";
import type { RetentionReport } from "../../plugins/archive/index.ts";
import { ApiError, api } from "../client.ts";
import { learnLabels } from "../components/base/tools.ts";
import { usePoll } from "./poll.ts";
import { failed } from "./toast.ts";

interface SyncState {
  lastAt?: string | null;
  mode?: string;
  /** Logs that changed and are not imported yet. */
  pending?: number;
}
interface ProgressFrame {
  type: string;
  done?: number;
  total?: number;
  bytes?: number;
  bytesTotal?: number;
}

function createService() {
  const status = usePoll(
    async (signal) =>
      (await api("GET /status", { signal })) as {
        version: string;
        dataDir: string;
        uptimeMs: number;
        storage: { sessions: number; messages: number; catalogBytes: number; transcriptBytes: number };
        sync?: SyncState;
        /** Nothing here is the user's; `of`: the service that shows this one. */
        sample?: { of: string | null };
        /** Tools that delete their own logs after a time. */
        retention?: RetentionReport[];
        feedback?: { relay: string | null; waiting: number };
        /** The collector that token counts are sent to, and what came of the last send. */
        otlp?: { endpoint: string; sentAt: string | null; failed: string | null };
        /** Levels of budgets that were crossed in their running period. */
        budgets?: { id: string; level: number; at: string }[];
        /** Labels of the assistants that are read, by name. */
        tools: Record<string, string>;
      },
    15_000,
  );
  watch(status.data, (report) => report && learnLabels(report.tools));
  const lost = ref(false);
  const running = usePoll(async (signal) => {
    try {
      const frame = (await api("GET /import/status", { signal })) as ProgressFrame;
      lost.value = false;
      return frame;
    } catch (error) {
      lost.value = error instanceof ApiError && error.status === 0;
      throw error;
    }
  }, 5_000);
  const retryIn = ref(0);
  const shownBy = ref<string>();
  let clock: ReturnType<typeof setInterval> | undefined;
  // More often than the regular queries: after 1, 2, 4, 4 … seconds.
  watch(lost, (isLost) => {
    clearInterval(clock);
    if (!isLost) {
      void status.now();
      return;
    }
    let pause = 1;
    retryIn.value = pause;
    clock = setInterval(async () => {
      if (--retryIn.value > 0) return;
      pause = Math.min(4, pause * 2);
      retryIn.value = pause;
      await running.now();
    }, 1_000);
  });
  /** From the stream of the import page, which is ahead of the regular queries. */
  const followed = shallowRef<ProgressFrame>();
  const progress = computed(
    () => followed.value ?? (running.data.value?.type === "progress" ? running.data.value : undefined),
  );
  /** How much of the running import is done, from 0 to 1, wherever it is shown. Undefined until it is known what there is to import. */
  const share = computed(() => {
    const { bytes = 0, bytesTotal = 0, done = 0, total = 0 } = progress.value ?? {};
    return bytesTotal > 0 ? bytes / bytesTotal : total > 0 ? done / total : undefined;
  });
  async function sync(): Promise<void> {
    try {
      await api("POST /sync", {});
      await running.now();
    } catch (error) {
      failed(error);
    }
    setTimeout(() => void Promise.all([status.now(), running.now()]), 1_200);
  }
  return {
    status: status.data,
    unreachable: computed(() => status.error.value !== undefined),
    /** True while the service does not answer at all, and the seconds until it is asked again. */
    lost,
    retryIn,
    retry: running.now,
    /** The screen that shows it in place of the shell. */
    shownBy,
    progress,
    /** Nothing is archived, and no import runs that would fill it. */
    empty: computed(() => status.data.value?.storage.sessions === 0 && progress.value === undefined),
    share,
    follow: (frame: ProgressFrame | undefined) => {
      followed.value = frame;
    },
    sync,
    refresh: () => Promise.all([status.now(), running.now()]),
  };
}

let service: ReturnType<typeof createService> | undefined;
export function useService(): ReturnType<typeof createService> {
  service ??= effectScope(true).run(createService);
  if (!service) throw new Error("The scope of the service is closed");
  return service;
}
