/** What will go: said once in a process, the way Node says such things. */
const said = new Set<string>();

/** `code` is the entry in core/README.md; `--no-deprecation` keeps it quiet and `--trace-deprecation` shows who asked. */
export function warnDeprecated(code: string, text: string): void {
  if (said.has(code)) return;
  said.add(code);
  process.emitWarning(text, { type: "DeprecationWarning", code });
}
