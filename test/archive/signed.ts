/** The signature of a text that is one message's. */
import { signatureOf } from "../../plugins/archive/search/signature.ts";

export function signed(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return signatureOf(bytes, text.length, Uint32Array.of(bytes.length, bytes.length));
}
