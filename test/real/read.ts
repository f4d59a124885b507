/** What sessarc says of a home after an import. */
import type { SessionEvent, SessionUsage } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { createTestKernel } from "../kernel.ts";
import type { Tokens } from "./model/script.ts";

export interface Told {
  sessions: number;
  tokens: Tokens;
  /** Names of all calls. */
  calls: string[];
  /** Calls without a result. */
  open: number;
  failures: number;
  prompts: string[];
  /** Names of the files that the sessions are said to have changed, without their folders. */
  changed: string[];
  /** The same of the changes whose causes are reported, the copied part of a fork included. */
  caused: string[];
  /** Lines that could not be read, and records of unknown types. */
  unread: string[];
}

interface Touched {
  path: string;
  edits: number;
}

interface Listed {
  id: string;
  copiedMessages: number;
  parentId: string | null;
  usage: SessionUsage;
  partial: { skippedLines: number; pending: number; unknownTypes: Record<string, number> };
}

export async function tell(home: string): Promise<Told> {
  const kernel = await createTestKernel({ home, plugins: defaultPlugins() });
  try {
    const { body } = await kernel.send<{ failed?: unknown[] }>("POST", "/api/import", { all: true });
    const { sessions } = await kernel.json<{ sessions: Listed[] }>("/api/sessions?limit=100");
    const told: Told = {
      sessions: sessions.length,
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      ...{ calls: [], open: 0, failures: 0, prompts: [], changed: [], caused: [], unread: [] },
    };
    told.unread.push(...(body.failed ?? []).map((failure) => JSON.stringify(failure)));
    for (const session of sessions) {
      const url = `/api/sessions/${encodeURIComponent(session.id)}`;
      for (const tokens of Object.values(session.usage)) {
        told.tokens.input += tokens.input;
        told.tokens.output += tokens.output;
        told.tokens.cacheRead += tokens.cacheRead;
        told.tokens.cacheWrite += tokens.cacheWrite5m + tokens.cacheWrite1h;
      }
      const { skippedLines, unknownTypes } = session.partial;
      if (skippedLines > 0) told.unread.push(`${skippedLines} lines`);
      told.unread.push(...Object.keys(unknownTypes));
      const { messages } = await kernel.json<{ messages: SessionEvent[] }>(`${url}/messages`);
      // What a fork repeats of its parent is the parent's.
      addMessages(told, messages.slice(session.copiedMessages), session.parentId !== null);
      const { files } = await kernel.json<{ files: Touched[] }>(`${url}/figures`);
      const { changes } = await kernel.json<{ changes: { path: string }[] }>(`${url}/causality`);
      told.changed.push(...files.filter(({ edits }) => edits > 0).map(({ path }) => path.replace(/^.*\//, "")));
      told.caused.push(...changes.map(({ path }) => path.replace(/^.*\//, "")));
    }
    return told;
  } finally {
    await kernel.close();
  }
}

/** What a child was asked came from its parent and not from a person. */
function addMessages(told: Told, messages: readonly SessionEvent[], isChild: boolean): void {
  const open = new Set<string>();
  for (const { kind, text, tool_name = "", tool_use_id = "", is_error } of messages) {
    if (kind === "user" && !isChild) told.prompts.push(text);
    if (kind === "tool_use") {
      told.calls.push(tool_name);
      open.add(tool_use_id);
    }
    if (kind !== "tool_result") continue;
    if (is_error) told.failures++;
    open.delete(tool_use_id);
  }
  told.open += open.size;
}
