/** What of a session is in no figure, as sentences. */

import { date } from "../../format.ts";
import type { Session } from "../../wire.ts";
import { healthText } from "./words/index.ts";

export function leftOutWords({ figuresLeftOut }: Pick<Session, "figuresLeftOut">): string[] {
  const { late, impossible } = figuresLeftOut ?? {};
  const time = late && date(late.last, { dateStyle: "medium", timeStyle: "short" });
  return [
    ...(late && time ? [healthText("leftOutLate", { n: late.replies, time })] : []),
    ...(impossible ? [healthText("leftOutImpossible", { n: impossible })] : []),
  ];
}
