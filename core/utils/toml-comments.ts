/** What an edit of TOML by its values must not lose. */

/**
 * The parser's `patch` forgets a comment behind an empty array: each is put back behind the line it stood on. `text`: before;
 * `patched`: what the parser made of it.
 */
export function keepTomlComments(text: string, patched: string): string {
  const lines = patched.split("\n");
  for (const line of text.split("\n")) {
    const code = /^(.*?\[\s*\])\s*#/.exec(line)?.[1];
    if (code === undefined || lines.includes(line)) continue;
    const at = lines.findIndex((one) => one.trimEnd() === code);
    if (at >= 0) lines[at] = line;
  }
  return lines.join("\n");
}
