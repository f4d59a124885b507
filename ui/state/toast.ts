/** Short notices at the bottom, with an Undo where there is one. */
import { reactive } from "vue";

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run(): unknown };
}
export const toasts = reactive<Toast[]>([]);
let next = 0;

export function toast(text: string, options: { action?: Toast["action"]; bad?: boolean } = {}): void {
  const id = ++next;
  toasts.push({ id, text, bad: options.bad ?? false, ...(options.action && { action: options.action }) });
  setTimeout(() => dismiss(id), options.bad || options.action ? 10_000 : 4_000);
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
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
