/** The log and the outbox. An entry is on disk before anything is sent; what the relay did not take is tried again. */
import { randomUUID } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { type Kernel, storageFailed } from "sessarc";
import { withoutCredentials } from "./config.ts";
import { relay } from "./relay.ts";

interface FeedbackEntry {
  message: string;
  kind?: string | undefined;
  email?: string | undefined;
  /** As a preview answered it; default: a new one. */
  id?: string | undefined;
}

export interface FeedbackPreview {
  id: string;
  stored: false;
  /** Byte for byte what a relay would get for an entry with this id. */
  body: string;
}

export interface FeedbackAnswer {
  id: string;
  stored: true;
  forwarded: boolean;
  /** Why it was not sent on; null when it was. */
  reason: string | null;
}

export interface Feedback {
  /** Resolves when the entry is on disk and the relay answered, failed or was late (5 s). Rejects only when the disk does. */
  add(entry: FeedbackEntry): Promise<FeedbackAnswer>;
  /** Keeps and sends nothing. */
  preview(entry: FeedbackEntry): Promise<FeedbackPreview>;
  /** Where entries go (without credentials of the address; null: nowhere) and how many still wait. One query. */
  state(): Promise<{ relay: string | null; waiting: number }>;
  /** Sends what is due; answers how many entries the relay took. */
  flush(now?: number): Promise<number>;
  /** Looks after the outbox from now on. */
  start(): void;
  stop(): Promise<void>;
}

interface Waiting {
  id: string;
  body: string;
  attempts: number;
}

const FIRST_LOOK = 10_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** After so many failed tries (about three weeks) an entry remains only in the log. */
const TRIES = 30;

export function createFeedback(kernel: Kernel): Feedback {
  const { db } = kernel.storage;
  /** Null: nowhere. It may change at any time. */
  const relayAddress = () => kernel.config.feedback.relay || null;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<number> | undefined;

  /** Hides tokens in pasted text before it is stored. */
  async function clean(text: string): Promise<string> {
    return (await kernel.find("redactor")?.hideSecrets(text)) ?? text;
  }

  const readFields = async ({ id = randomUUID(), message, kind, email }: FeedbackEntry) => ({
    id,
    message: await clean(message),
    kind,
    email,
  });

  async function log(row: object): Promise<void> {
    const path = kernel.storage.path("files", "feedback.log");
    await appendLine(path, JSON.stringify(row)).catch(storageFailed(path));
  }

  async function send(address: string, { id, body, attempts }: Waiting, now: number): Promise<string | null> {
    const reason = await relay(address, body, kernel.closing);
    if (reason === null || attempts + 1 >= TRIES) {
      await db.run("delete from feedback_outbox where id = ?", [id]);
    } else {
      const wait = Math.min(MINUTE * 2 ** Math.min(attempts, 12), DAY);
      await db.run("update feedback_outbox set attempts = ?, next_at = ? where id = ?", [attempts + 1, now + wait, id]);
      plan(wait);
    }
    return reason;
  }

  async function sendDue(now: number): Promise<number> {
    const due = await db.all<Waiting>(
      "select id, body, attempts from feedback_outbox where next_at <= ? order by next_at limit 50",
      [now],
    );
    let taken = 0;
    for (const entry of due) {
      const address = relayAddress();
      if (kernel.closing.aborted || address === null) break;
      if ((await send(address, entry, now)) === null) taken++;
    }
    return taken;
  }

  function plan(ms: number): void {
    if (relayAddress() === null || kernel.closing.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      feedback
        .flush()
        .then((taken) => plan(taken > 0 ? MINUTE : 15 * MINUTE))
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "feedback" }));
    }, ms);
    timer.unref();
  }

  const feedback: Feedback = {
    async preview(entry) {
      const fields = await readFields(entry);
      return { id: fields.id, stored: false, body: JSON.stringify(fields) };
    },
    async add(entry) {
      const fields = await readFields(entry);
      const { id } = fields;
      const address = relayAddress();
      await log({ ...fields, at: new Date().toISOString() });
      if (address === null) return { id, stored: true, forwarded: false, reason: "No relay is configured" };
      const body = JSON.stringify(fields);
      const now = Date.now();
      // Due later than the attempt below may take, so that no other attempt sends it, too.
      await db.run("insert or replace into feedback_outbox (id, body, attempts, next_at) values (?, ?, 0, ?)", [
        id,
        body,
        now + MINUTE,
      ]);
      const reason = await send(address, { id, body, attempts: 0 }, now);
      return { id, stored: true, forwarded: reason === null, reason };
    },
    async state() {
      const row = await db.get<{ n: number }>("select count(*) as n from feedback_outbox");
      const address = relayAddress();
      return { relay: address === null ? null : withoutCredentials(address), waiting: row?.n ?? 0 };
    },
    flush(now = Date.now()) {
      if (relayAddress() === null) return Promise.resolve(0);
      running ??= sendDue(now).finally(() => {
        running = undefined;
      });
      return running;
    },
    start: () => plan(FIRST_LOOK),
    async stop() {
      clearTimeout(timer);
      await running;
    },
  };
  return feedback;
}

/** Whole, or not at all: the next line begins at its own. */
async function appendLine(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a", 0o600);
  try {
    const { size } = await file.stat();
    try {
      await file.appendFile(`${line}\n`);
      await file.sync();
    } catch (error) {
      await file.truncate(size);
      throw error;
    }
  } finally {
    await file.close();
  }
}
