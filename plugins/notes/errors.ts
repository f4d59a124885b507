/** Error codes of notes and saved searches. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    NOTE_MESSAGE_NOT_FOUND: { id: string; seq: number };
    SEARCH_NOT_FOUND: { name: string };
  }
}

export const errors = defineErrors({
  NOTE_MESSAGE_NOT_FOUND: {
    status: 404,
    why: ({ id, seq }) => `Session ${id} has no message ${seq}`,
    fix: () => "Pass the `seq` of a message of GET /sessions/:id/messages.",
  },
  SEARCH_NOT_FOUND: {
    status: 404,
    why: ({ name }) => `No search is saved as ${JSON.stringify(name)}`,
    fix: () => "`sessarc mark search` (GET /searches) lists the saved searches.",
  },
});
