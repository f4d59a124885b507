/** Short notices at the bottom, with an Undo where there is one. */
import { reactive } from "vue";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run(): unknown };
  /** How long it stays; default by its kind. */
  ms?: number;
}
export const toasts = reactive<Toast[]>([]);
let next = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
let held = false;

export function toast(text: string, options: Partial<Pick<Toast, "action" | "bad" | "ms">> = {}): void {
  const id = ++next;
  toasts.push({ id, text, bad: false, ...options });
  if (!held) letGo();
}

/** Each that has no time yet gets its own: half a minute for what can be undone, long enough to find it with the keyboard. */
function letGo(): void {
  for (const { id, bad, action, ms } of toasts)
    if (!timers.has(id))
      timers.set(
        id,
        setTimeout(() => dismiss(id), ms ?? (action ? 30_000 : bad ? 10_000 : 4_000)),
      );
}

/** Under the pointer or the focus nothing goes away; afterwards each has its whole time again. */
export function hold(on: boolean): void {
  held = on;
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  if (!on) letGo();
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
  clearTimeout(timers.get(id));
  timers.delete(id);
  // What goes away under the pointer is never left by it.
  if (held) hold(false);
}

/** Runs the action of a notice; a failure shows another notice. */
export async function act({ id, action }: Toast): Promise<void> {
  dismiss(id);
  try {
    await action?.run();
  } catch (error) {
    failed(error);
  }
}

/** Tells what went wrong with an act of the user. */
export function failed(error: unknown): void {
  toast(reasonOf(error), { bad: true });
}

/** What went wrong and what to do about it. */
export function reasonOf(error: unknown): string {
  const { message, fix } = error as { message?: string; fix?: string };
  return [message ?? String(error), fix].filter(Boolean).join(" ");
}
