/** What Claude Code keeps of sessions beside their logs: `history.jsonl`, which has every typed prompt and is not tidied with the logs. */
import { dirname, join } from "node:path";
import { type AdapterCapabilities, isRecord, type JsonRecord, toText } from "sessarc";
import { type AdapterEnv, textBeside } from "sessarc/adapter";
import { readStats } from "./stats.ts";

type TracesContract = AdapterCapabilities["traces"];

/** Names of texts that were pasted and stored apart. */
const STORED = /^[\w-]{1,128}$/;

export const traces = (homes: (env: AdapterEnv) => readonly string[]): TracesContract => ({
  files: (env) => homes(env).map((home) => join(home, "history.jsonl")),
  days: (env) => homes(env).flatMap(readStats),
  read(row, path) {
    const key = toText(row.sessionId);
    const display = toText(row.display);
    if (key === undefined || display === undefined) return undefined;
    return {
      key,
      text: withPasted(display, row.pastedContents, path),
      at: typeof row.timestamp === "number" ? row.timestamp : undefined,
      cwd: toText(row.project),
    };
  },
});

/** `[Pasted text #1 +20 lines]` stands for a text that the row has, or names in `paste-cache`. */
function withPasted(display: string, pasted: unknown, path: string): string {
  if (!isRecord(pasted)) return display;
  return display.replace(/\[Pasted text #(\d+)[^\]]*\]/g, (mark, number: string) => {
    const found = pasted[number];
    return (isRecord(found) && pastedText(found, path)) || mark;
  });
}

function pastedText({ content, contentHash }: JsonRecord, path: string): string | undefined {
  if (typeof content === "string") return content;
  if (typeof contentHash !== "string" || !STORED.test(contentHash)) return undefined;
  return textBeside(join(dirname(path), "paste-cache", `${contentHash}.txt`));
}
