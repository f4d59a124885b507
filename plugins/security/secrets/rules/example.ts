/** What a secret of a rule looks like, with its own characters left out: never a complete token. */
import type { Row } from "../match/row.ts";
import { type Part, parseShape } from "../match/shape.ts";

const GAP = "…";
const MOST_CHARS = 48;
/** Longer heads are cut: with them alone some rules are content. */
const MOST_TEXT = 20;

export function toExample({ kind, shape, names, near }: Row): string {
  if (kind === "file") return shape;
  const value = toText(parseShape(shape)).replace(/[\s…]*…[\s…]*/g, GAP);
  const name = kind === "assignment" ? names?.[0] : kind === "near" ? near?.words[0] : undefined;
  const whole = name === undefined ? value : `${name}${kind === "near" ? " " : " = "}${value}`;
  return whole.length > MOST_CHARS ? `${whole.slice(0, MOST_CHARS).trimEnd()}${GAP}` : whole;
}

function toText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.type === "text")
        return part.text.length > MOST_TEXT ? `${part.text.slice(0, MOST_TEXT)}${GAP}` : part.text;
      if (part.type === "run") return part.min === 0 && part.max < MOST_TEXT ? "" : GAP;
      if (part.type === "secret") return toText(part.parts);
      return part.optional ? "" : toText(part.options[0] ?? []);
    })
    .join("");
}
