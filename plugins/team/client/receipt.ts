/** The receipt of a withdrawal: what the server signed must be what it answers. */
import { canonicalJson, parseRecord } from "sessarc";
import * as v from "valibot";
import { isSigned } from "../keys.ts";
import * as wire from "../wire/answers.ts";

/** What is wrong with the receipt for this machine; undefined for a good one. */
export function problemOfReceipt(
  { removed, receipt, signature, publicKey }: wire.Withdrawn,
  person: string,
  device: string,
): string | undefined {
  if (!isSigned(publicKey, receipt, signature)) return "is not signed";
  const said = parseRecord(receipt);
  if (said?.person !== person || said.device !== device) return "is for another machine";
  if (!v.is(wire.removed, said.removed) || canonicalJson(said.removed) !== canonicalJson(removed))
    return "names other sessions than the answer";
  return undefined;
}
