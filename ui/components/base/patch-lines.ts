/** Lines of a unified diff, each for what it is. */
interface PatchLine {
  text: string;
  kind: "add" | "del" | "head" | "same";
}

/**
 * `---` and `+++` are the head of a file before its first hunk, and where the two stand together and another hunk or file begins behind
 * them: else a removed line may begin with two dashes of its own.
 */
export function patchLines(patch: string): PatchLine[] {
  const lines = patch
    .replace(/\n$/, "")
    .split("\n")
    .filter((text) => !/^=+$/.test(text));
  const starts = (i: number, text: string) => lines[i]?.startsWith(text) === true;
  const isFile = (i: number) =>
    starts(i, "--- ") && starts(i + 1, "+++ ") && (starts(i + 2, "@@") || starts(i + 2, "--- "));
  let inHunk = false;
  return lines.map((text, i) => {
    if (text.startsWith("@@")) inHunk = true;
    else if (/^(diff |Index: |Binary files )/.test(text) || isFile(i)) inHunk = false;
    if (!inHunk || text.startsWith("@@") || text.startsWith("\\")) return { text, kind: "head" };
    return { text, kind: text.startsWith("+") ? "add" : text.startsWith("-") ? "del" : "same" };
  });
}
