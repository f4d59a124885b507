/** A secret's value, found again in the message that holds it. Runs in the pool; the value is never stored nor answered. */
import type { SessionEvent } from "sessarc";
import { builtinRules, createScanner, type Scanner } from "../engine.ts";
import { fingerprintOf } from "./fingerprint.ts";

const BUDGET_MS = 5_000;

let scanner: Scanner | undefined;

/** Undefined: the message does not hold it. */
export async function valueIn(event: SessionEvent, fingerprint: string): Promise<string | undefined> {
  scanner ??= createScanner(builtinRules(), { categories: ["secret"] });
  const { findings } = scanner.scanEvent(event, { budgetMs: BUDGET_MS });
  return findings.find(({ secret }) => fingerprintOf(secret) === fingerprint)?.secret;
}
