/** Whether a project's instructions say already what a proposal would say. */
import type { Finding } from "../find/finding.ts";
import { relate } from "../find/same.ts";
import { readClaims } from "../read/claims.ts";

export function isSaid(text: string, { kind, line, evidence }: Finding): boolean {
  const lines = text.split(/\r?\n/).map((one) => one.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, ""));
  if (lines.includes(line)) return true;
  if (kind === "command") {
    const [right] = /`([^`]+)`/.exec(line)?.slice(1) ?? [];
    return right !== undefined && text.includes(right);
  }
  const claims = [line, ...evidence.map((one) => one.text)].flatMap((one) => readClaims(one, false));
  const said = lines.flatMap((one) => readClaims(one, false)).filter(({ isStanding }) => isStanding);
  return said.some((one) => claims.some((claim) => relate(claim, one) === "same"));
}
