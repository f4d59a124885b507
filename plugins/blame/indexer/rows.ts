/** Rows of the tables: what a session wrote into a file, and its prompts. Written by the indexer, read by questions. */
import { type Json, toList, toNumber, toText } from "sessarc";

/** One call that wrote into the file. */
export interface WrittenCall {
  seq: number;
  /** ms; null without a time. */
  at: number | null;
  /** Name of the tool. */
  name: string;
  /** Keys of the lines it wrote, in their order. */
  lines: Int32Array;
  /** It wrote the whole file, with lines that were there before. */
  whole: boolean;
  pieces: readonly string[];
}

/** A prompt with what the assistant did until the next one. */
export interface PromptWork {
  /** -1: before the first prompt. */
  seq: number;
  at: number | null;
  model: string | null;
  /** Messages of the assistant by UTC quarter-hour; under -1 those without a time. */
  work: Map<number, number>;
  calls: number;
  failed: number;
  /** Calls of the tool that had just failed. */
  retried: number;
}

/** Columns `calls` and `lines` of `blame_file`. */
export function packCalls(calls: readonly WrittenCall[]): { calls: string; lines: Uint8Array } {
  const all = new Int32Array(calls.reduce((sum, { lines }) => sum + lines.length, 0));
  let at = 0;
  for (const { lines } of calls) {
    all.set(lines, at);
    at += lines.length;
  }
  const heads = calls.map(({ seq, at, name, lines, whole, pieces }) => [
    ...[seq, at, name, lines.length, whole ? 1 : 0],
    ...(pieces.length > 0 ? [pieces] : []),
  ]);
  return { calls: JSON.stringify(heads), lines: new Uint8Array(all.buffer) };
}

export function readCalls(calls: string, lines: Uint8Array): WrittenCall[] {
  const all = new Int32Array(new Uint8Array(lines).buffer);
  let from = 0;
  return toList(JSON.parse(calls)).map((head) => {
    const [seq, at, name, count, whole, pieces] = toList(head);
    const end = from + (toNumber(count) ?? 0);
    const call: WrittenCall = {
      seq: toNumber(seq) ?? 0,
      at: toNumber(at) ?? null,
      name: toText(name) ?? "",
      lines: all.subarray(from, end),
      whole: whole === 1,
      pieces: toList(pieces).flatMap((piece) => toText(piece) ?? []),
    };
    from = end;
    return call;
  });
}

/** Column `prompts` of `blame_session`. */
export const packPrompts = (prompts: readonly PromptWork[]): string =>
  JSON.stringify(
    prompts.map(
      ({ seq, at, model, work, calls, failed, retried }): Json => [
        ...[seq, at, model, calls, failed, retried],
        [...work].flat(),
      ],
    ),
  );

export function readPrompts(text: string): PromptWork[] {
  return toList(JSON.parse(text)).map((row) => {
    const [seq, at, model, calls, failed, retried, pairs] = toList(row);
    const work = new Map<number, number>();
    const flat = toList(pairs);
    for (let i = 0; i < flat.length; i += 2) work.set(toNumber(flat[i]) ?? -1, toNumber(flat[i + 1]) ?? 0);
    return {
      seq: toNumber(seq) ?? -1,
      at: toNumber(at) ?? null,
      model: toText(model) ?? null,
      work,
      calls: toNumber(calls) ?? 0,
      failed: toNumber(failed) ?? 0,
      retried: toNumber(retried) ?? 0,
    };
  });
}
