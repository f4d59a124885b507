/** Which sessions of the archive changed, as it happens: a page that lists sessions need not ask again and again. */
import type { Kernel } from "sessarc";

/** Sessions that were stored or removed since the last frame. */
export interface ChangeFrame {
  stored: string[];
  removed: string[];
}

/** An import of many sessions is one frame, not one for each. */
const GATHER_MS = 100;
/** With more in one frame the reader reloads anyway. */
const MOST = 200;

/** Reports changes until `signal` aborts. */
export function followChanges(kernel: Kernel, tell: (frame: ChangeFrame) => void, signal: AbortSignal): void {
  const stored = new Set<string>();
  const removed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const say = () => {
    timer = undefined;
    tell({ stored: [...stored].slice(0, MOST), removed: [...removed].slice(0, MOST) });
    stored.clear();
    removed.clear();
  };
  const note = (to: Set<string>, other: Set<string>) => (info: { id: string }) => {
    other.delete(info.id);
    to.add(info.id);
    timer ??= setTimeout(say, GATHER_MS).unref();
  };
  const ends = [
    kernel.hooks.hook("session:replaced", note(stored, removed)),
    kernel.hooks.hook("session:removed", note(removed, stored)),
  ];
  signal.addEventListener(
    "abort",
    () => {
      clearTimeout(timer);
      for (const end of ends) end();
    },
    { once: true },
  );
}
