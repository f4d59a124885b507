/** A typed prompt, split into text and code. Only backticks mean something; all else is shown as it was typed. */

interface PromptPart {
  /** `code` is inline, `block` is between fences. */
  type: "text" | "code" | "block";
  text: string;
}

const FENCE = /^ {0,3}(`{3,})[^`]*$/;

/** Linear in the text. A fence that is never closed and a lone backtick are text. */
export function toPromptParts(text: string): PromptPart[] {
  if (!text.includes("`")) return [{ type: "text", text }];
  const parts: PromptPart[] = [];
  const lines = text.split("\n");
  const ends = closings(lines);
  let from = 0;
  for (let at = 0; at < lines.length; at++) {
    const end = ends.get(at);
    if (end === undefined) continue;
    if (at > from) parts.push(...inline(lines.slice(from, at).join("\n")));
    parts.push({ type: "block", text: lines.slice(at + 1, end).join("\n") });
    at = end;
    from = end + 1;
  }
  if (from < lines.length) parts.push(...inline(lines.slice(from).join("\n")));
  return parts;
}

/** Line of each opening fence, with the line that closes it. */
function closings(lines: readonly string[]): Map<number, number> {
  const found = new Map<number, number>();
  let open: { at: number; length: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const ticks = FENCE.exec(line.trimEnd())?.[1]?.length;
    if (ticks === undefined) continue;
    if (!open) open = { at, length: ticks };
    else if (ticks >= open.length && /^ *`+$/.test(line.trimEnd())) {
      found.set(open.at, at);
      open = undefined;
    }
  }
  return found;
}

/** Code within a line: between runs of backticks of the same length. */
function inline(text: string): PromptPart[] {
  const parts: PromptPart[] = [];
  const runs = [...text.matchAll(/`+|\n/g)];
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i];
    if (!run || run[0] === "\n") continue;
    let end = i + 1;
    while (end < runs.length && runs[end]?.[0] !== run[0] && runs[end]?.[0] !== "\n") end++;
    const close = runs[end];
    if (!close || close[0] !== run[0]) continue;
    if (run.index > from) parts.push({ type: "text", text: text.slice(from, run.index) });
    parts.push({ type: "code", text: text.slice(run.index + run[0].length, close.index) });
    from = close.index + close[0].length;
    i = end;
  }
  if (from < text.length) parts.push({ type: "text", text: text.slice(from) });
  return parts;
}
