/** The signature of a text, or a tool input, that is one message's. */
import type { Json } from "sessarc";
import { toSignature } from "../../plugins/archive/search/signature.ts";

export function signed(said: Json): Uint8Array {
  const json = JSON.stringify(said);
  const bytes = Buffer.from(json);
  return toSignature(bytes, json.length, Uint32Array.of(0, bytes.length));
}
