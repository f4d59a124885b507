/** What stands around a match, for people: no escape codes, and of arguments the words without the signs of JSON. */
import { plain } from "../session/ansi.ts";

export function readable(text: string, isJson: boolean): string {
  const shown = plain(text);
  if (!isJson) return shown;
  return shown
    .replace(/\\u001b\[[0-9;]*m/gi, "")
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(["\\/])/g, "$1")
    .replace(/"(\w+)":/g, "$1: ")
    .replace(/^[{[]+|[}\]]+$/g, "")
    .replace(/"(,|$)/g, "$1 ")
    .replace(/: "/g, ": ");
}
