/** Paths without the folder of the machine's user. */
import type { Json, SessionEvent } from "sessarc";

interface Homes {
  text(text: string): string;
  /** Keys included. */
  tree(value: Json): Json;
  event(event: SessionEvent): SessionEvent;
}

/** `home` becomes `~`, in every spelling of it: with slashes, backslashes, and those escaped in JSON once or twice. */
export function createHomes(home: string): Homes {
  const pattern = findPattern(home.replace(/[\\/]+$/, ""));
  const text = (value: string) => (pattern ? value.replace(pattern, "~") : value);
  const tree = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(tree);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), tree(item)]));
  };
  return {
    text,
    tree,
    event: (event) => ({
      ...event,
      text: text(event.text),
      ...(event.tool_input !== undefined && { tool_input: tree(event.tool_input) }),
    }),
  };
}

/** Undefined for a home that is the root or relative. */
function findPattern(home: string): RegExp | undefined {
  const parts = home.split(/[\\/]/);
  if (parts.length < 2 || parts.at(-1) === "") return undefined;
  const spelled = parts.map((part) => part.replace(/[^\w\s]/g, "\\$&")).join("(?:/|\\\\{1,4})");
  return new RegExp(`${spelled}(?![\\w-]|\\.\\w)`, /^[A-Za-z]:/.test(home) ? "gi" : "g");
}
