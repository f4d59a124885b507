/** A legacy tab: its bubbles are in the window's own database. */
import { type JsonRecord, type SessionSummary, toList } from "sessarc";
import type { NewEvent } from "sessarc/adapter";
import { toConversation } from "../stores/workspace.ts";
import { type Builder, createBuilder } from "./conversation.ts";

export function* tabDrafts(
  tab: JsonRecord,
  key: string,
  cwd: string | undefined,
): Generator<NewEvent, { summary: SessionSummary; builder: Builder }> {
  const builder = createBuilder({ ...toConversation(tab), key, cwd });
  for (const bubble of toList(tab.bubbles)) yield* builder.bubble(bubble);
  return { summary: builder.finish(), builder };
}
