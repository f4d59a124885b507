/** Returns memory to the system when the service is idle: V8 keeps what a start or an import took until the next allocation. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const EVERY_MS = 5_000;
/** Processor time within `EVERY_MS` up to which nothing was done. */
const IDLE_MS = 50;
/** Collecting takes up to a millisecond for each MB in use, and nothing else runs meanwhile: with more, V8 is left to itself. */
const LARGE = 48 * 2 ** 20;
const WORTH = 8 * 2 ** 20;
/** The second one finds that nothing was made since the first: only then V8 gives back its room for what is new, up to 32 MB. */
const TIMES = 2;

/** State of the process: processor time since its start in ms, bytes of the heap in use and held. */
interface RestLook {
  cpuMs: number;
  used: number;
  held: number;
}

/** Answers, look by look, whether to collect: twice after each time that something was done. */
export function createRest(): (look: RestLook) => boolean {
  let last = Number.NEGATIVE_INFINITY;
  let left = TIMES;
  return ({ cpuMs, used, held }) => {
    const idle = cpuMs - last <= IDLE_MS;
    last = cpuMs;
    if (!idle) left = TIMES;
    if (!idle || left === 0 || used > LARGE || held - used < WORTH) return false;
    left--;
    return true;
  };
}

/** Looks every five seconds, until it is stopped. Keeps no process alive. */
export function restWhenIdle(): { stop(): void } {
  const rests = createRest();
  /** What collecting took is nothing that was done. */
  let ownMs = 0;
  const timer = setInterval(() => {
    const now = look();
    if (!rests({ ...now, cpuMs: now.cpuMs - ownMs })) return;
    collect();
    ownMs += look().cpuMs - now.cpuMs;
  }, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

function look(): RestLook {
  const { user, system } = process.cpuUsage();
  const { used_heap_size, total_heap_size } = getHeapStatistics();
  return { cpuMs: (user + system) / 1_000, used: used_heap_size, held: total_heap_size };
}

function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  if (typeof gc === "function") gc();
}
