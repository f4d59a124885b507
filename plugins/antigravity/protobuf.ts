/** Protocol-buffer messages, read by a map of the fields that are known. */

/** What a field holds: a number (varints and fixed ones), a text, bytes, or a nested message. */
export type ProtoType = "number" | "text" | "bytes" | ProtoShape;
/** Names for field numbers: `{ text: [2, "text"] }`. */
export interface ProtoShape {
  readonly [name: string]: readonly [field: number, type: ProtoType];
}
export type ProtoValue = number | string | Uint8Array | ProtoMessage;
/** Values by name, in order; a name without values is absent. */
export interface ProtoMessage {
  [name: string]: ProtoValue[];
}

/** All values at a path of names. */
export function protoAll(message: ProtoMessage, ...path: readonly string[]): ProtoValue[] {
  return path.reduce<ProtoValue[]>(
    (values, name) => values.flatMap((value) => (isMessage(value) ? (value[name] ?? []) : [])),
    [message],
  );
}

/** The first value at a path of names. */
export const protoFirst = (message: ProtoMessage, ...path: readonly string[]): ProtoValue | undefined =>
  protoAll(message, ...path)[0];

const isMessage = (value: ProtoValue | undefined): value is ProtoMessage =>
  typeof value === "object" && !(value instanceof Uint8Array);

/** Messages nested deeper are left out. */
const DEPTH = 64;

/** Reads the fields of `shape`; others are passed over. Damaged bytes end the message there. Linear in the bytes. */
export function readProto(bytes: unknown, shape: ProtoShape, depth = 0): ProtoMessage {
  const found: ProtoMessage = {};
  if (!(bytes instanceof Uint8Array) || depth > DEPTH) return found;
  const byNumber = new Map(Object.entries(shape).map(([name, [field, type]]) => [field, { name, type }]));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): number | undefined => {
    const [value, next] = readVarint(bytes, at);
    at = next;
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined) break;
    const known = byNumber.get(Math.floor(tag / 8));
    const wire = tag % 8;
    let value: ProtoValue | undefined;
    let list: ProtoValue[] | undefined;
    if (wire === 0) value = varint();
    else if (wire === 1 || wire === 5) {
      const size = wire === 1 ? 8 : 4;
      if (at + size > bytes.length) break;
      value = wire === 1 ? Number(view.getBigUint64(at, true)) : view.getUint32(at, true);
      at += size;
    } else if (wire === 2) {
      const length = varint();
      if (length === undefined || at + length > bytes.length) break;
      const part = bytes.subarray(at, at + length);
      if (known?.type === "number") list = readPacked(part);
      else value = known && toValue(part, known.type, depth);
      at += length;
    } else break;
    list ??= value === undefined ? [] : [value];
    if (!known || list.length === 0 || (known.type === "number") !== (typeof list[0] === "number")) continue;
    found[known.name] = [...(found[known.name] ?? []), ...list];
  }
  return found;
}

/** The value, undefined past the end, and where the next one starts. Numbers above 2^53 are rounded. */
function readVarint(bytes: Uint8Array, start: number): [value: number | undefined, next: number] {
  let at = start;
  let value = 0;
  for (let scale = 1; at < bytes.length && scale < 2 ** 70; scale *= 128) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
  }
  return [undefined, bytes.length];
}

/** Several numbers of one field are written as one value. */
function readPacked(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [value, next] = readVarint(bytes, at);
    if (value !== undefined) numbers.push(value);
    at = next;
  }
  return numbers;
}

function toValue(bytes: Uint8Array, type: Exclude<ProtoType, "number">, depth: number): ProtoValue {
  if (type === "bytes") return bytes;
  if (type === "text") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return readProto(bytes, type, depth + 1);
}
