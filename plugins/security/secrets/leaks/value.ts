/** A secret's value, found again in the message that holds it. Runs in the pool; the value is never stored nor answered. */
import type { SessionEvent } from "sessarc";
import { toFingerprint } from "./fingerprint.ts";
import { leakScanner } from "./scanner.ts";

const BUDGET_MS = 5_000;

/** Undefined: the message does not hold it. */
export async function valueIn(event: SessionEvent, fingerprint: string): Promise<string | undefined> {
  const { findings } = leakScanner().scanEvent(event, { budgetMs: BUDGET_MS });
  return findings.find(({ secret }) => toFingerprint(secret) === fingerprint)?.secret;
}
