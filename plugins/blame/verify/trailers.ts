/** Assistants that a commit's message names: `Assisted-by`, `Co-Authored-By`, `Agent-Logs-Url`, `Claude-Session`, `Entire-Checkpoint`. */

/** What a trailer says. */
export interface TrailerAgent {
  /** As sessarc names the assistant, where it is known; else as the trailer does. */
  tool: string;
  model: string | null;
  /** Of the assistant's session. */
  session: string | null;
  /** The line that names it. */
  trailer: string;
}

/** Addresses and names with which assistants sign as co-author. */
const SIGNED: readonly (readonly [RegExp, string])[] = [
  [/noreply@anthropic\.com|\bclaude\b/i, "claude-code"],
  [/noreply@openai\.com|\bcodex\b/i, "codex"],
  [/cursoragent@cursor\.com|\bcursor agent\b/i, "cursor"],
  [/\bcopilot\b/i, "copilot"],
  [/\bgemini[- ](cli|code)\b|\bgemini\b.*@google\.com/i, "gemini-cli"],
  [/\bopencode\b/i, "opencode"],
  [/\baider\b/i, "aider"],
  [/\bdevin\b/i, "devin"],
  [/\bfactory-droid\b/i, "droid"],
  [/\bamp@ampcode\.com/i, "amp"],
];

const toolIn = (text: string): string | undefined => SIGNED.find(([mark]) => mark.test(text))?.[1];

/** The first assistant that the trailers name; undefined where they name people alone. Any other co-author is a person. */
export function readTrailers(trailers: readonly string[]): TrailerAgent | undefined {
  const agents: TrailerAgent[] = [];
  let session: string | null = null;
  for (const trailer of trailers) {
    const [, name = "", value = ""] = /^([A-Za-z-]+)\s*:\s*(.+)$/.exec(trailer) ?? [];
    switch (name.toLowerCase()) {
      case "claude-session":
        session = value.trim();
        agents.push({ tool: "claude-code", model: null, session, trailer });
        break;
      case "co-authored-by": {
        const tool = toolIn(value);
        if (tool !== undefined) agents.push({ tool, model: modelIn(value), session: null, trailer });
        break;
      }
      case "assisted-by":
      case "generated-by": {
        // The form of the Linux kernel: `Assisted-by: <agent>:<model> [tools]`. The commit hook names the session as a tool.
        const [agent = "", model] = value.trim().split(/\s+/)[0]?.split(":") ?? [];
        const said = model === undefined || model === "" ? modelIn(value) : model;
        const named = /\[session (\S+)\]/.exec(value)?.[1] ?? null;
        agents.push({ tool: toolIn(value) ?? agent, model: said, session: named, trailer });
        break;
      }
      case "agent-logs-url":
      case "entire-checkpoint":
        agents.push({ tool: toolIn(value) ?? "unknown", model: null, session: null, trailer });
    }
  }
  const [first] = agents.toSorted((a, b) => Number(a.tool === "unknown") - Number(b.tool === "unknown"));
  return first && { ...first, session: first.session ?? session };
}

/** `Claude Opus 4.5 <noreply@…>`: the name before the address, where it says more than the assistant's. */
function modelIn(text: string): string | null {
  const name = text.replace(/<[^>]*>/, "").trim();
  return /\d/.test(name) ? name.slice(0, 100) : null;
}
