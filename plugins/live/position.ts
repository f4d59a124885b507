/** Where a client stands: the `id:` of a frame, and the marks that show whether the log is still the one it was. */
import { crc32 } from "node:zlib";
import type { SessionEvent } from "sessarc";

/** `<seq>.<mark>.<lineage>`: the next seq, a checksum of what came before it (`-`: none), and the feed that wrote it. */
export interface Position {
  seq: number;
  mark: string;
  lineage: string;
}

const ID = /^(\d{1,9})\.([0-9a-z]{1,8}|-)\.([0-9a-z]{1,16})$/;
export const NO_MARK = "-";

export const formatId = ({ seq, mark, lineage }: Position): string => `${seq}.${mark}.${lineage}`;

/** Undefined for an id that live did not make: such a client is new. */
export function parseId(text: string | null): Position | undefined {
  const match = ID.exec(text ?? "");
  return match ? { seq: Number(match[1]), mark: match[2] as string, lineage: match[3] as string } : undefined;
}

/** Characters of a text that count; what differs only behind them is not seen. */
const TEXT = 65_536;
/** The archive cuts texts here. */
const TEXT_CAP = 16 * 1024 * 1024;

/** Checksum of one message: the same for what a log gives and for what the archive kept of it. */
export function addUp(event: SessionEvent): number {
  const { kind, id, tool_use_id, is_error, text, tool_input } = event;
  const input = tool_input === undefined ? "" : JSON.stringify(tool_input).slice(0, TEXT);
  const head = `${kind}\n${id ?? ""}\n${tool_use_id ?? ""}\n${is_error ?? ""}\n${Math.min(text.length, TEXT_CAP)}`;
  return crc32(`${head}\n${input}\n${text.slice(0, TEXT)}`);
}

export const toMark = (sum: number): string => sum.toString(36);

/** One mark for the messages before `end`, from the sum of each. Linear, a few ns a message. */
export function toChain(sums: readonly number[], end: number): string {
  let mixed = 0x811c9dc5;
  for (let i = 0; i < end; i++) mixed = Math.imul(mixed ^ (sums[i] as number), 0x01000193) >>> 0;
  return toMark(mixed);
}
