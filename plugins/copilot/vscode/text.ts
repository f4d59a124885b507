/** Texts of VS Code chats: markdown objects, references, and the rendered trees of tool results. */
import { type Fields, fieldsOf, isFields, listOf, stringOf, textOf } from "../_shape.ts";

const DEPTH = 200;

/** A string, `{ value }`, `{ content: { value } }`, or a list of such. */
export function markdownOf(value: unknown): string {
  return Array.isArray(value) ? value.map(markdownPart).join("") : markdownPart(value);
}

function markdownPart(value: unknown): string {
  if (typeof value === "string") return value;
  const { value: inner, content } = fieldsOf(value);
  return stringOf(inner) ?? stringOf(fieldsOf(content).value) ?? "";
}

/** The name a file or symbol reference shows inside a sentence. */
export function referenceName(item: Fields): string {
  const name = stringOf(item.name);
  if (name !== undefined) return name;
  const target = fieldsOf(item.inlineReference);
  const named = stringOf(target.name);
  if (named !== undefined) return named;
  const uri = fieldsOf(
    isFields(target.uri) ? target.uri : isFields(target.location) ? fieldsOf(target.location).uri : target,
  );
  const path = stringOf(uri.path) ?? stringOf(uri.fsPath) ?? stringOf(item.inlineReference) ?? "";
  return path.split(/[\\/]/).at(-1) ?? "";
}

/** `content` of a tool result: texts, prompt trees (`{ node: { children } }`) and data parts. */
export function contentText(content: unknown): string {
  return listOf(content)
    .map((part) => partText(part))
    .filter((text) => text !== "")
    .join("\n");
}

/** What the chat view itself kept of a call: output texts, or the files it found. */
export function detailsText(details: unknown): string {
  if (Array.isArray(details)) return details.map((item) => referenceName({ inlineReference: item })).join("\n");
  const { output } = fieldsOf(details);
  if (typeof output === "string") return output;
  return listOf(output)
    .map((item) => stringOf(fieldsOf(item).value) ?? stringOf(fieldsOf(item).text) ?? "")
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isFields(part)) return "";
  const value = part.value ?? part.text;
  if (typeof value === "string") return value;
  if (isFields(value)) return isFields(value.node) ? treeText(value.node) : textOf(value);
  if (isFields(part.node)) return treeText(part.node);
  return part.mimeType === undefined && part.data === undefined ? "" : "[data]";
}

/** Texts of a rendered prompt tree, in order. Parts nested over 200 levels are left out. */
function treeText(root: unknown): string {
  const texts: string[] = [];
  const visit = (node: unknown, left: number) => {
    if (!isFields(node) || left === 0) return;
    if (typeof node.text === "string") {
      if (node.lineBreakBefore === true && texts.length > 0) texts.push("\n");
      texts.push(node.text);
    }
    for (const child of listOf(node.children)) visit(child, left - 1);
  };
  visit(root, DEPTH);
  return texts.join("").trim();
}
