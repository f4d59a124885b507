/** All mistakes that recur in a project. */
import type { SessionReading } from "../read/session.ts";
import { findCommands } from "./commands.ts";
import { findCorrections, type Said } from "./corrections.ts";
import type { Finding } from "./finding.ts";

/** A prompt that begins so many sessions is a form, and what is in it is said already. */
const FORM_SESSIONS = 2;

export function findMistakes(sessions: readonly SessionReading[]): Finding[] {
  return [
    ...findCorrections(saidIn(sessions)),
    ...findCommands(sessions.map(({ id, slips, runs }) => ({ session: id, slips, runs }))),
  ];
}

/** The claims of all sessions, without those of forms. */
export function saidIn(sessions: readonly SessionReading[]): Said[] {
  const forms = new Map<string, number>();
  for (const { form } of sessions) if (form !== null) forms.set(form, (forms.get(form) ?? 0) + 1);
  return sessions.flatMap(({ id, said, form }) => {
    const isForm = form !== null && (forms.get(form) ?? 0) >= FORM_SESSIONS;
    const own = isForm ? said.filter(({ isFirst }) => !isFirst) : said;
    return own.flatMap(({ seq, at, claims }) => claims.map((claim) => ({ session: id, seq, at, claim })));
  });
}
