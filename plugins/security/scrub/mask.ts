/** Replaces secrets in bytes by as many others. An import that reads a scrubbed session again loads it in the pool. */
import type { SessionEvent } from "sessarc";
import { plainReading, type Reading, stripAnsi, TooMuch, unescapeJson } from "../secrets/scan/decode.ts";
import { DECODE_LIMIT, decodeRuns, loosen } from "../secrets/scan/encoded.ts";
import { type FillKind, fill } from "./fill.ts";
import { createFinder, type Hit } from "./find.ts";
import type { MaskKey } from "./keys.ts";
import { findSplit } from "./split.ts";

export interface Masked {
  /** As many as there were. */
  bytes: Buffer;
  /** Where they differ, in order: [from, to). */
  spans: [from: number, to: number][];
  /** Lines (from 1) that hold a secret which could not be replaced. */
  left: number[];
}

export interface Mask {
  /** Whether they hold one that is written as usual: a quick look, which leaves out what is in pieces or compressed. */
  has(bytes: Uint8Array): boolean;
  /** Undefined: they hold none. */
  bytes(bytes: Uint8Array): Masked | undefined;
  text(text: string): string;
  /** Messages in order, some later than they came: a secret may go on in the next. */
  stream(): { push(events: readonly SessionEvent[]): SessionEvent[]; end(): SessionEvent[] };
}

interface Span {
  start: number;
  end: number;
  kind: FillKind;
  phase: number;
}

/** Levels of JSON in JSON that are read, and encodings inside of encodings. */
const LEVELS = 3;
const DEPTH = 2;

export function createMask(keys: readonly MaskKey[]): Mask {
  const finder = createFinder(keys);

  /** Places of the text itself and of what it says without escapes and colours. */
  function direct(text: string, levels = LEVELS): Span[] {
    const spans: Span[] = finder.find(text).filter(({ start }) => !isEscaped(text, start));
    for (const reading of readingsOf(text, levels))
      for (const hit of finder.find(reading.text)) spans.push(toSpan(text, reading, hit));
    return spans;
  }

  /** Places of what is in pieces or encoded as a whole. */
  function encoded(text: string): Span[] {
    const spans: Span[] = [];
    for (const reading of [plainReading(text), ...readingsOf(text, LEVELS - 1)]) {
      const loose = loosen(reading, never);
      if (loose) for (const hit of finder.find(loose.text)) spans.push(toSpan(text, loose, hit));
      const base = loose ?? reading;
      for (const { text: inner, start, end } of decodeRuns(base.text, DECODE_LIMIT, always))
        if (holds(inner, 1)) spans.push({ start: base.origin(start), end: base.origin(end), kind: "run", phase: 0 });
    }
    return spans;
  }

  function holds(text: string, depth: number): boolean {
    if (finder.find(text).length > 0) return true;
    if (depth >= DEPTH) return false;
    const loose = loosen(plainReading(text), never);
    if (loose && finder.find(loose.text).length > 0) return true;
    for (const run of decodeRuns(text, DECODE_LIMIT, always)) if (holds(run.text, depth + 1)) return true;
    return false;
  }

  function has(given: Uint8Array): boolean {
    const text = latin1(given);
    // A letter is written as an escape by few programs.
    return direct(text, text.includes("\\u") ? LEVELS : 0).length > 0;
  }

  function bytes(given: Uint8Array): Masked | undefined {
    const out = Buffer.from(given);
    const before = latin1(given);
    const spans: Masked["spans"] = [];
    const left = new Set<number>();
    const replace = (found: readonly Span[]) => {
      for (const { start, end, kind, phase } of found) {
        fill(out, start, end, kind, phase);
        spans.push([start, end]);
      }
      return found.length > 0;
    };
    const isFound = replace(direct(before));
    const after = isFound ? latin1(out) : before;
    for (const [from, to] of blocksOf(after)) {
      try {
        replace(
          encoded(after.slice(from, to)).map((span) => ({ ...span, start: span.start + from, end: span.end + from })),
        );
      } catch (error) {
        if (!(error instanceof TooMuch || error instanceof RangeError)) throw error;
        left.add(lineAt(before, from));
      }
    }
    replace(findSplit(after, finder).map((piece) => ({ ...piece, kind: "text", phase: 0 })));
    if (spans.length + left.size === 0) return undefined;
    // A row that would no longer be one is of no use to its assistant.
    const lines = new Set(spans.map(([start]) => before.lastIndexOf("\n", start - 1) + 1));
    const broken = [...lines].filter((from) => {
      const to = endOfLine(before, from);
      return isJson(before.slice(from, to)) && !isJson(out.toString("latin1", from, to));
    });
    for (const from of broken) {
      out.write(before.slice(from, endOfLine(before, from)), from, "latin1");
      left.add(lineAt(before, from));
    }
    const isDone = ([start]: [number, number]) =>
      !broken.some((from) => start >= from && start < endOfLine(before, from));
    return { bytes: out, spans: spans.filter(isDone).sort((a, b) => a[0] - b[0]), left: [...left] };
  }

  function messages(events: readonly SessionEvent[]): SessionEvent[] {
    if (events.length === 0) return [];
    const rows = Buffer.from(events.map((event) => JSON.stringify(event)).join("\n"));
    const masked = bytes(rows);
    if (!masked) return [...events];
    return masked.bytes
      .toString()
      .split("\n")
      .map((row) => JSON.parse(row) as SessionEvent);
  }

  return {
    has,
    bytes,
    text: (text) => bytes(Buffer.from(text))?.bytes.toString() ?? text,
    stream() {
      let held: readonly SessionEvent[] = [];
      return {
        push(events) {
          const all = messages([...held, ...events]);
          const ready = all.slice(0, held.length);
          held = all.slice(ready.length);
          return ready;
        },
        end() {
          const all = [...held];
          held = [];
          return all;
        },
      };
    },
  };
}

function readingsOf(text: string, levels: number): Reading[] {
  const readings: Reading[] = [];
  const plain = plainReading(text);
  let reading: Reading | undefined = stripAnsi(plain);
  if (reading !== plain) readings.push(reading);
  for (let level = 0; level < levels && reading?.text.includes("\\"); level++) {
    const inner = unescapeJson(reading);
    reading = inner && stripAnsi(inner);
    if (reading) readings.push(reading);
  }
  return readings;
}

/** Whole lines of some size: one too complicated to be read leaves out no other than its neighbours. */
function* blocksOf(text: string): Generator<[from: number, to: number]> {
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf("\n", from + BLOCK);
    const to = newline < 0 ? text.length : newline + 1;
    yield [from, to];
    from = to;
  }
}
const BLOCK = 256 * 1024;

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
const endOfLine = (text: string, from: number) => {
  const newline = text.indexOf("\n", from);
  return newline < 0 ? text.length : newline;
};
/** From 1. */
const lineAt = (text: string, at: number) => text.slice(0, at).split("\n").length;

/** What follows the last character is no part of it, though the reading left it out. */
function toSpan(row: string, reading: Reading, { start, end, kind, phase }: Hit): Span {
  const last = reading.origin(end - 1);
  let after = last;
  while (row[after] === "\\") after++;
  after += after > last && row[after] === "u" ? 5 : 1;
  return { start: reading.origin(start), end: Math.min(after, reading.origin(end)), kind, phase };
}

/** Its first character is that of an escape: another text. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const never = () => false;
const always = () => true;
