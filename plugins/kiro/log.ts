/** Logs of Kiro's newer command line: JSON lines, with title and folder in a document beside them. */
import { type JsonRecord, toItems, toRecord, toText } from "sessarc";
import { createDraft, type LineParser, readDocument, toTitle } from "sessarc/adapter";
import { blockText } from "./database.ts";

export async function createLogParser(sidecar: string): Promise<LineParser> {
  const draft = createDraft();
  let facts: JsonRecord = {};
  const refresh = async () => {
    facts = toRecord((await readDocument(sidecar))?.value);
    draft.time(facts.created_at);
  };
  await refresh();
  return {
    refresh,
    row(row) {
      const { kind, data } = toRecord(row);
      const message = toRecord(data);
      const time = toRecord(message.meta).timestamp ?? message.timestamp;
      const fields = { id: toText(message.message_id), at: draft.time(time) };
      if (kind !== "Prompt" && kind !== "AssistantMessage" && kind !== "ToolResults") draft.unknown(kind);
      else
        for (const block of toItems(message.content).map(toRecord)) {
          const body = toRecord(block.data);
          if (block.kind === "toolUse") draft.call(body.toolUseId, body.name, body.input, fields);
          else if (block.kind === "toolResult")
            draft.result(body.toolUseId, blockText(body.content), { ...fields, is_error: body.status === "error" });
          else if (block.kind === "text") draft.say(kind === "Prompt" ? "user" : "assistant", block.data, fields);
          else if (block.kind === "thinking") draft.say("thinking", body.text ?? block.data, fields);
          else draft.say("note", `[${toText(block.kind) ?? "attachment"}]`, fields);
        }
      return draft.take();
    },
    finish: () => draft.summary({ title: toTitle(toText(facts.title)), cwd: toText(facts.cwd) }),
  };
}
