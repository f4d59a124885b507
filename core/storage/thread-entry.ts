/** The catalogue's thread: a catalogue as any process opens it, called by messages. */
import { parentPort } from "node:worker_threads";
import { fromCarried, toCarried } from "../workers/carry.ts";
import { openDatabase } from "./database.ts";
import { holdsLock } from "./lock.ts";
import { fetchSqlJs } from "./sqljs.ts";
import type { Call, FromCatalogue, ThreadOptions, ToCatalogue } from "./thread-calls.ts";

/** Rows in a message: the service's thread makes objects of one part while this thread reads the next. */
const PART = 500;

if (parentPort) listen(parentPort);

type Port = NonNullable<typeof parentPort>;

function listen(port: Port): void {
  // Read while the service loads its plugins. The caller of `open` gets the error.
  fetchSqlJs().catch(() => {});
  let catalogue: (message: Exclude<ToCatalogue, { call: "open" }>) => void;
  port.on("message", (message: ToCatalogue) => {
    if (message.call === "open") catalogue = openCatalogue(port, message);
    else catalogue(message);
  });
}

/** Answers what takes the messages after `open`. */
function openCatalogue(port: Port, { dir, readOnly, token }: ThreadOptions) {
  const post = (message: FromCatalogue) => port.postMessage(message);
  const proofs = new Map<number, (failed: unknown) => void>();
  let asked = 0;
  /** Only a lock file that is not ours needs the thread that holds the lock. */
  async function prove(): Promise<boolean> {
    if (token === undefined || (await holdsLock(dir, token))) return true;
    const id = asked++;
    const failed = await new Promise((resolve) => {
      proofs.set(id, resolve);
      post({ say: "prove", id });
    });
    if (failed !== undefined) throw fromCarried(failed);
    return false;
  }

  const db = openDatabase({
    dir,
    readOnly,
    prove,
    onNotice: (message) => post({ say: "notice", message }),
  });

  const holds = new Map<number, () => void>();
  let held = 0;
  async function hold(): Promise<number> {
    const letGo = await db.hold();
    holds.set(++held, letGo);
    return held;
  }
  async function release(id: number): Promise<void> {
    holds.get(id)?.();
    holds.delete(id);
  }

  function run(call: Call & { id: number }): Promise<unknown> {
    switch (call.call) {
      case "ready":
        return db.ready;
      case "hold":
        return hold();
      case "release":
        return release(call.hold);
      case "compact":
        return db.compact();
      case "read":
        return db.read(call.sql, call.params, PART, (columns, rows) =>
          post({ say: "rows", id: call.id, columns, rows }),
        );
      case "run":
        return db.run(call.sql, call.params);
      case "batch":
        return db.batch(call.statements);
      case "close":
        return db.close(call.withinMs);
    }
  }

  return (message: Exclude<ToCatalogue, { call: "open" }>): void => {
    const { id } = message;
    if (message.call === "proved") {
      proofs.get(id)?.(message.failed);
      proofs.delete(id);
      return;
    }
    const state = () => ({ generation: db.generation, stats: db.stats });
    run(message).then(
      (result) => post({ say: "done", id, result, state: state() }),
      (error: unknown) => post({ say: "failed", id, error: toCarried(error), state: state() }),
    );
  };
}
