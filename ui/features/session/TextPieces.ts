/** Text of a terminal: coloured lines, or plain text with its links. A function: in a template every space between would show. */
import { type FunctionalComponent, h } from "vue";
import type { Token } from "../code/highlight.ts";
import type { LinkPart } from "./links.ts";

const LINK = { class: "text-accent underline underline-offset-2", target: "_blank", rel: "noopener noreferrer" };
export default ((props) => {
  if (!props.colours)
    return props.pieces.map((piece) => (piece.href ? h("a", { ...LINK, href: piece.href }, piece.text) : piece.text));
  return props.colours.flatMap((line, i) => [
    i > 0 ? "\n" : "",
    ...line.map((token) => h("span", { style: token.style }, token.text)),
  ]);
}) as FunctionalComponent<{
  colours: readonly (readonly Token[])[] | undefined;
  pieces: readonly LinkPart[];
}>;
