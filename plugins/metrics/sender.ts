/** Sends token counts regularly to the collector that the user named. Without one nothing is sent. */
import { type Kernel, SessarcError } from "sessarc";
import { collectorAt, sendOtlp } from "sessarc/serve";
import { withoutQuery } from "./config.ts";

interface SenderState {
  /** The address, without its query; null: nothing is sent. */
  endpoint: string | null;
  /** ISO 8601; null: not yet. */
  sentAt: string | null;
  /** Why the last attempt failed; null: it did not. */
  failed: string | null;
  /** Attempts that failed since the last that did not. */
  failures: number;
  /** When the next attempt is due, ISO 8601. */
  nextAt: string | null;
}

interface Sender {
  /** Sends now, and from then on regularly, while an address is configured. */
  start(): void;
  stop(): void;
  state(): SenderState;
}

const MINUTE = 60_000;
/** The longest pause after failures, unless the user's own is longer. */
const HOUR = 60 * MINUTE;

/**
 * `read`: what is sent. Each send has the totals of the archive, so that a send that failed loses nothing: the next one has its tokens too. After a failure the
 * pause is one minute, two, four, up to an hour.
 */
export function createSender(kernel: Kernel, read: () => Promise<object>): Sender {
  let timer: NodeJS.Timeout | undefined;
  /** Counts starts: an attempt that a later start overtook plans nothing. */
  let run = 0;
  let sentAt: string | null = null;
  let failed: string | null = null;
  let failures = 0;
  let nextAt: string | null = null;
  const address = () => kernel.config.metrics.otlp;

  async function attempt(): Promise<string | undefined> {
    const url = collectorAt(address());
    if (typeof url === "string") return `the address ${url}`;
    return sendOtlp(url, await read(), kernel.closing);
  }

  async function send(mine: number): Promise<void> {
    const reason = await attempt().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (mine !== run || kernel.closing.aborted) return;
    if (reason === undefined) {
      sentAt = new Date().toISOString();
      failed = null;
      failures = 0;
    } else {
      // A collector that stays away is reported once, and in GET /status.
      if (failures === 0)
        void kernel.notify("listener:failed", new SessarcError("OTLP_FAILED", { url: toOrigin(address()), reason }), {
          hook: "metrics",
        });
      failed = reason;
      failures++;
    }
    const regular = kernel.config.metrics.minutes * MINUTE;
    plan(mine, failures === 0 ? regular : Math.min(MINUTE * 2 ** Math.min(failures - 1, 12), Math.max(HOUR, regular)));
  }

  function plan(mine: number, ms: number): void {
    nextAt = new Date(Date.now() + ms).toISOString();
    timer = setTimeout(() => void send(mine), ms).unref();
  }

  function stop(): void {
    run++;
    clearTimeout(timer);
    nextAt = null;
  }

  return {
    start() {
      stop();
      failures = 0;
      failed = null;
      if (address() !== "" && !kernel.closing.aborted) void send(run);
    },
    stop,
    state: () => ({
      endpoint: address() === "" ? null : withoutQuery(address()),
      ...{ sentAt, failed, failures, nextAt },
    }),
  };
}

const toOrigin = (text: string) => (URL.canParse(text) ? new URL(text).origin : text);
