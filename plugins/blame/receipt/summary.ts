/** What a note under `refs/notes/sessarc` says of a commit. */
import type { Receipt } from "./receipt.ts";

export const NOTES_REF = "refs/notes/sessarc";

/** Without titles and prompts, unless `prompts` brings texts by session and seq. */
export function toSummary(receipt: Receipt, prompts: ReadonlyMap<string, string> = new Map()): string {
  const { total, sessions, models, fates, calls } = receipt;
  const rows = [
    "sessarc-note: 1",
    `microdollars: ${total.microdollars}`,
    `tokens: ${total.tokens}`,
    `active-ms: ${total.activeMs}`,
    `sessions: ${sessions.length}`,
    `prompts: ${sessions.reduce((sum, one) => sum + one.prompts.length, 0)}`,
    `calls: ${calls.all}, failed ${calls.failed}, tried again ${calls.retried}`,
    ...models.map(({ model, microdollars }) => `model: ${plain(model ?? "unknown")} ${microdollars}`),
    ...fates.flatMap(({ fate, lines }) => (lines > 0 && fate !== "uncommitted" ? [`lines-${fate}: ${lines}`] : [])),
  ];
  for (const { id, prompts: own } of sessions)
    for (const { seq, microdollars } of own) {
      const text = prompts.get(`${id} ${seq}`);
      if (text !== undefined) rows.push(`prompt: ${microdollars} ${plain(text).slice(0, 500)}`);
    }
  return `${rows.join("\n")}\n`;
}

const plain = (text: string) => text.replace(/[\s\p{C}]+/gu, " ").trim();
