/** The lines below a hit's title: each says something that neither the title nor a line above says. */
import { type ComputedRef, computed } from "vue";
import type { SearchAnswer } from "../../wire.ts";
import { callLine, insideOf } from "./call-line.ts";
import { type Form, readable } from "./readable.ts";

type Result = SearchAnswer["results"][number];
type Match = Result["matches"][number];

const WRITTEN: ReadonlySet<string> = new Set(["user", "assistant", "thinking"]);
export const formOf = ({ field, kind }: Pick<Match, "field" | "kind">): Form =>
  field === "tool_input" ? "json" : WRITTEN.has(kind) ? "markdown" : "plain";

/** Characters of a title that a screen has room for, and a wide one: a mark beyond them is not seen. */
const [SEEN, SEEN_WIDE] = [80, 110];
/** Characters by which two snippets are the same text. */
const SAME = 40;
const spaced = (text: string) => text.replace(/[\s…]+/g, " ").trim();

export function useLines(result: () => Result, title: ComputedRef<Result["title"]>, isWide: () => boolean) {
  /** The prompt that a session has its title of. */
  const isTitle = (match: Match) => {
    const { text, ranges } = title.value;
    const seen = isWide() ? SEEN_WIDE : SEEN;
    if (match.kind !== "user" || (ranges[0]?.[1] ?? seen) >= seen) return false;
    const [long, short] = [spaced(readable(text, "markdown")), spaced(readable(match.snippet, "markdown"))].sort(
      (a, b) => b.length - a.length,
    );
    return short !== undefined && short !== "" && long?.includes(short) === true;
  };
  return computed(() => {
    const seen = new Set<string>();
    const isNew = (text: string) => !seen.has(text) && seen.add(text) !== undefined;
    return result().matches.flatMap((whole) => {
      const match = insideOf(whole, result().project.path);
      if (isTitle(whole)) return [];
      const call = callLine(match);
      const text = call.snippet ? spaced(readable(match.snippet, formOf(match))) : "";
      // What is read is often written after, and said before it is run.
      if (text.length >= SAME && !isNew(text.slice(0, SAME))) return [];
      return isNew([match.tool_name, call.argument?.text, text].join(" ")) ? [{ match, call }] : [];
    });
  });
}
