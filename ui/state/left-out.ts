/** What of a session is in no figure, as sentences. */
import { date } from "../format.ts";
import { w } from "../i18n/session/index.ts";
import type { Session } from "../wire.ts";

export function leftOutWords({ figuresLeftOut }: Pick<Session, "figuresLeftOut">): string[] {
  const { late, impossible } = figuresLeftOut ?? {};
  const time = late && date(late.last, { dateStyle: "medium", timeStyle: "short" });
  return [
    ...(late && time ? [w("leftOutLate", { n: late.replies, time })] : []),
    ...(impossible ? [w("leftOutImpossible", { n: impossible })] : []),
  ];
}
