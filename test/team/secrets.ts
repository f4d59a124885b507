/** A value of every rule, planted wherever a session has text. */
import { ROWS, scanner } from "../security/_engine.ts";
import type { Row } from "../security/_kernel.ts";
import { createRandom, toSample } from "../security/_samples.ts";

export interface Planted {
  /** A line that shows it. */
  text: string;
  rule: string;
  shape: string;
  /** What must not be readable. */
  value: string;
}

/** Rules whose samples are found beside no name. */
export function plant(seed: number): Planted[] {
  const random = createRandom(seed);
  const planted: Planted[] = [];
  for (const { id, row } of ROWS) {
    if (row.files || row.kind === "near" || row.kind === "file") continue;
    const value = toSample(row.shape, random);
    if (value.length < 8 || /[\s"'`\\]/.test(value)) continue;
    // Where a row marks the secret, what is before it may be read: a host, a path.
    const secret = row.shape.includes("<") ? value.slice(value.length >> 1).replace(/^.*[=:/\\]/, "") : value;
    const name = row.names?.[0] ?? "value";
    const { findings } = scanner.scan(`${name} = "${value}"`);
    if (secret.length >= 8 && findings.some((one) => one.secret.includes(secret)))
      planted.push({ rule: id, shape: row.shape, value: secret, text: `${name} = "${value}"` });
  }
  return planted;
}

/** Messages with them: said, in calls, in JSON inside of a call, in results. */
export function rowsWith(planted: readonly Planted[]): Row[] {
  return planted.flatMap(({ text }, i): Row[] => {
    if (i % 4 === 0) return [{ role: "user", text: `see ${text}` }];
    if (i % 4 === 1) return [{ role: "call", input: { command: `export ${text}`, nested: { list: [text] } } }];
    if (i % 4 === 2)
      return [
        { role: "call", name: "Write", input: { content: JSON.stringify({ text, inner: JSON.stringify({ text }) }) } },
      ];
    return [{ role: "assistant", text: `it says\n${text}\nthere` }];
  });
}

/** Eight characters of a planted value that can be read in `text`, beside those that every value of the rule has. */
export function readable({ value, shape }: Planted, out: string): string | undefined {
  // The name of a rule may have the beginning of another rule's values in it.
  const text = out.replace(/\[REDACTED:[\w-]+/g, "");
  for (let at = 0; at + 8 <= value.length; at++) {
    const piece = value.slice(at, at + 8);
    if (text.includes(piece) && !shape.includes(piece)) return piece;
  }
  return undefined;
}
