/** What Gemini CLI's `settings.json` says beside the chats: how long chats are kept. */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, toRecord, toText } from "sessarc";
import type { Retention } from "sessarc/adapter";
import { readRegular } from "sessarc/files";

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };
const DEFAULT_DAYS = 30;

/**
 * How long chats are kept: `general.sessionRetention`. Absent in a settings file means the default of 0.40 and later
 * (30 days); undefined when cleaning is off, bound to a count only, or the tool is not installed.
 */
export async function readRetention(file: string): Promise<Retention | undefined> {
  const text = await readRegular(file).catch(() => undefined);
  if (text === undefined) {
    const home = await stat(dirname(file)).catch(() => undefined);
    return home?.isDirectory() ? { days: DEFAULT_DAYS, source: "Gemini CLI's default" } : undefined;
  }
  const settings = tryParse(text);
  if (!isRecord(settings)) return undefined; // with comments: not ours to guess
  const rules = toRecord(toRecord(settings.general).sessionRetention);
  if (rules.enabled === false) return undefined;
  const age = toText(rules.maxAge);
  if (age === undefined) {
    if (rules.maxCount !== undefined) return undefined;
    return { days: DEFAULT_DAYS, source: "Gemini CLI's default" };
  }
  const [, amount, unit] = age.match(/^(\d{1,6})([hdwm])$/) ?? [];
  const days = Number(amount) * (DAYS[unit ?? ""] ?? Number.NaN);
  return days > 0 ? { days, source: file } : undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
