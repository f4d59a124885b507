/** What a person typed, taken out of what Cursor sends with it. */

interface Prompt {
  /** Typed text; empty when all of it was injected. */
  text: string;
  /** Injected text that stands around it. */
  note: string;
  /** The time Cursor put in front, where it says its zone. */
  at?: string | undefined;
}

const TIMESTAMP = /<timestamp>([^<]{1,100})<\/timestamp>\s*/;
const QUERY = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/;
/** Wrappers Cursor writes into user messages without the person having typed anything. */
const INJECTED =
  /^<(user_info|system_reminder|system-reminder|project_layout|git_status|rules|always_applied_workspace_rules|agent_skills|open_and_recently_viewed_files|additional_data|attached_files|mcp_file_system|agent_transcripts|environment_context)\b/;

/** Splits a user message. Linear in the text. */
export function toPrompt(raw: string): Prompt {
  const stamp = TIMESTAMP.exec(raw);
  const at = stamp ? parseStamp(stamp[1] ?? "") : undefined;
  const text = (stamp ? raw.replace(TIMESTAMP, () => "") : raw).trim();
  const start = text.indexOf("<user_query>");
  if (start < 0) return INJECTED.test(text) ? { text: "", note: text, at } : { text, note: "", at };
  const query = QUERY.exec(text.slice(start));
  if (!query) return { text: text.slice(start + "<user_query>".length).trim(), note: text.slice(0, start).trim(), at };
  const rest = `${text.slice(0, start)}${text.slice(start + query[0].length)}`;
  return { text: (query[1] ?? "").trim(), note: rest.trim(), at };
}

/** "Workspace Path: /home/dev/app" inside `<user_info>`. */
export const workspaceIn = (text: string): string | undefined =>
  /^\s*Workspace Path:[ \t]*(\S[^\n]{0,4000})$/m.exec(text)?.[1]?.trim();

/** "Wednesday, Jul 1, 2026, 8:05 AM (UTC+2)". Without a zone it is no moment. */
function parseStamp(stamp: string): string | undefined {
  const match =
    /^(?:[A-Za-z]+,\s*)?([A-Za-z]+ \d{1,2}, \d{4}),?\s+(\d{1,2}:\d{2}(?::\d{2})?\s?[AP]M)\s*\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\)$/.exec(
      stamp.trim(),
    );
  if (!match) return undefined;
  const [, day, clock, sign = "+", hours = "0", minutes = "00"] = match;
  const ms = Date.parse(`${day} ${clock} GMT${sign}${hours.padStart(2, "0")}${minutes}`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
