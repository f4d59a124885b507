/** What a message of a log says: its parts, and their texts. */
import { isRecord, type JsonRecord } from "../utils/json.ts";

/** The parts of a message: its blocks, or one block for a plain text. */
export function contentParts(content: unknown): JsonRecord[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.flatMap((part) => contentPart(part)) : [];
}

const contentPart = (part: unknown): JsonRecord[] =>
  typeof part === "string" ? [{ type: "text", text: part }] : isRecord(part) ? [part] : [];

/** The texts of a message's blocks, one below the other. */
export function partsText(content: unknown): string {
  return contentParts(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}

/** Text of a message's content: a string, one block, or blocks of which those with a text count; pictures become a mark. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(contentText).filter(Boolean).join("\n");
  if (typeof content !== "object" || content === null) return "";
  const { type, text } = content as { type?: unknown; text?: unknown };
  if (typeof text === "string") return text;
  return typeof type === "string" && type.includes("image") ? "[image]" : "";
}
