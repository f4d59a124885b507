/** Changes as JSON. Names come again and again and are escaped once: a third of the time of JSON.stringify. */
import type { Change } from "./analyze.ts";

/** Writes what `JSON.stringify(change)` would. One for each session: it keeps every name it has seen. */
export function createChangeWriter(): (change: Change) => string {
  const known = new Map<string, string>();
  const quote = (text: string | null): string => {
    if (text === null) return "null";
    let quoted = known.get(text);
    if (quoted === undefined) {
      quoted = JSON.stringify(text);
      known.set(text, quoted);
    }
    return quoted;
  };
  return ({ seq, at, tool_name, path, causes }) => {
    const head = `{"seq":${seq},"at":${quoteTime(at)},"tool_name":${quote(tool_name)},"path":${quote(path)},"causes":[`;
    let list = "";
    for (const { seq, tool_name, path, pattern, score, relation, reason } of causes) {
      // Only a pattern brings into the reason what would have to be escaped.
      const said = pattern === null ? `"${reason}"` : JSON.stringify(reason);
      list += `${list === "" ? "" : ","}{"seq":${seq},"tool_name":${quote(tool_name)},"path":${quote(path)},"pattern":${quote(pattern)},"score":${score},"relation":"${relation}","reason":${said}}`;
    }
    return `${head}${list}]}`;
  };
}

const quoteTime = (at: string | null) => (at === null ? "null" : `"${at}"`);
