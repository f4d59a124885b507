/** The budget of stored logs in `sessarc doctor`. */
import type { DoctorCheck } from "sessarc";
import { formatBytes, formatCount } from "sessarc/terminal";
import type { StoredLogs } from "./keeper.ts";

const NAME = "stored logs";
const FIX =
  "Give `rescue.logs` more room (a number of GB), or remove all stored logs with `sessarc vacuum --logs`. Transcripts stay in either case.";

export function checkBudget(logs: StoredLogs): DoctorCheck {
  const { sessions, stored, budget, isOver, leftOut, leftOutDying, setting } = logs;
  if (setting === "none") return { name: NAME, status: "ok", detail: "not stored (`rescue.logs` is `none`)" };
  const room = budget === null ? "" : ` of ${formatBytes(budget)}`;
  const detail = `${formatCount(sessions)} logs in ${formatBytes(stored)}${room}`;
  if (isOver)
    return {
      name: NAME,
      status: "warn",
      detail: `${detail}: over the budget, and all that are stored are gone at their assistants or will be within 7 days; none is removed`,
      fix: FIX,
    };
  if (leftOutDying > 0)
    return {
      name: NAME,
      status: "warn",
      detail: `${detail}; ${formatCount(leftOutDying)} logs will be deleted by their assistants within 7 days and have no room`,
      fix: FIX,
    };
  return { name: NAME, status: "ok", detail: leftOut > 0 ? `${detail}; ${formatCount(leftOut)} have no room` : detail };
}
