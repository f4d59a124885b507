/** Texts of VS Code chats: markdown objects, references, and the rendered trees of tool results. */

import { isRecord, type JsonRecord, toItems, toRecord, toText } from "sessarc";
import { toJsonText } from "sessarc/adapter";

const DEPTH = 200;

/** A string, `{ value }`, `{ content: { value } }`, or a list of such. */
export function toMarkdown(value: unknown): string {
  return Array.isArray(value) ? value.map(markdownPart).join("") : markdownPart(value);
}

function markdownPart(value: unknown): string {
  if (typeof value === "string") return value;
  const { value: inner, content } = toRecord(value);
  return toText(inner) ?? toText(toRecord(content).value) ?? "";
}

/** The name a file or symbol reference shows inside a sentence. */
export function referenceName(item: JsonRecord): string {
  const name = toText(item.name);
  if (name !== undefined) return name;
  const target = toRecord(item.inlineReference);
  const named = toText(target.name);
  if (named !== undefined) return named;
  const uri = toRecord(
    isRecord(target.uri) ? target.uri : isRecord(target.location) ? toRecord(target.location).uri : target,
  );
  const path = toText(uri.path) ?? toText(uri.fsPath) ?? toText(item.inlineReference) ?? "";
  return path.split(/[\\/]/).at(-1) ?? "";
}

/** `content` of a tool result: texts, prompt trees (`{ node: { children } }`) and data parts. */
export function contentText(content: unknown): string {
  return toItems(content)
    .map((part) => partText(part))
    .filter((text) => text !== "")
    .join("\n");
}

/** What the chat view itself kept of a call: output texts, or the files it found. */
export function detailsText(details: unknown): string {
  if (Array.isArray(details)) return details.map((item) => referenceName({ inlineReference: item })).join("\n");
  const { output } = toRecord(details);
  if (typeof output === "string") return output;
  return toItems(output)
    .map((item) => toText(toRecord(item).value) ?? toText(toRecord(item).text) ?? "")
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isRecord(part)) return "";
  const value = part.value ?? part.text;
  if (typeof value === "string") return value;
  if (isRecord(value)) return isRecord(value.node) ? treeText(value.node) : toJsonText(value);
  if (isRecord(part.node)) return treeText(part.node);
  return part.mimeType === undefined && part.data === undefined ? "" : "[data]";
}

/** Texts of a rendered prompt tree, in order. Parts nested over 200 levels are left out. */
function treeText(root: unknown): string {
  const texts: string[] = [];
  const visit = (node: unknown, left: number) => {
    if (!isRecord(node) || left === 0) return;
    if (typeof node.text === "string") {
      if (node.lineBreakBefore === true && texts.length > 0) texts.push("\n");
      texts.push(node.text);
    }
    for (const child of toItems(node.children)) visit(child, left - 1);
  };
  visit(root, DEPTH);
  return texts.join("").trim();
}
