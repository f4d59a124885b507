/** Goose's older logs: a header, then messages. The whole file is written again when the header changes. */
import { toRecord, toText } from "sessarc";
import { createDraft, type LineParser } from "sessarc/adapter";
import { addMessage, isPaid, toUsage } from "./messages.ts";

export function createLogParser(session: string): LineParser {
  const draft = createDraft();
  let title: string | undefined;
  let cwd: string | undefined;
  return {
    row(value) {
      const row = toRecord(value);
      if (typeof row.role === "string" && row.content !== undefined) {
        const isVisible = toRecord(row.metadata).userVisible !== false;
        addMessage(draft, row.role, row.content, isVisible, { id: toText(row.id), at: draft.time(row.created) });
      } else if (row.working_dir !== undefined || row.description !== undefined) {
        title = toText(row.description) ?? title;
        cwd = toText(row.working_dir) ?? cwd;
        for (const time of [row.created_at, row.updated_at]) draft.time(time);
        const usage = toUsage(row.accumulated_input_tokens, row.accumulated_output_tokens, 0, 0);
        if (isPaid(usage)) draft.count({ key: session, model: "unknown", usage });
      } else draft.unknown(row.type);
      return draft.take();
    },
    finish: () => draft.summary({ title, cwd }),
  };
}
