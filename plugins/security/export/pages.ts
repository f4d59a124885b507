/** Pages of findings: a cursor says behind which one to go on, so that what comes or goes meanwhile moves nothing. */
import { invalidCursor } from "sessarc";
import type { CheckFinding } from "./job.ts";

type Place = Pick<CheckFinding, "seq" | "field" | "start" | "end" | "ruleId">;

interface FindingsPage {
  findings: CheckFinding[];
  nextCursor: string | null;
}

/** At most `limit` findings behind `cursor`, by message and place in it. Throws INVALID_INPUT for an invalid cursor. */
export function toPage(findings: readonly CheckFinding[], limit: number, cursor: string | undefined): FindingsPage {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rest = findings.filter((one) => !after || compare(one, after) > 0).sort(compare);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { findings: page, nextCursor: last && rest.length > limit ? toCursor(last) : null };
}

const compare = (a: Place, b: Place) =>
  a.seq - b.seq || order(a.field, b.field) || a.start - b.start || a.end - b.end || order(a.ruleId, b.ruleId);

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** `<seq>:<start>:<end>:<rule>:<field>`; a field may hold any characters. */
const toCursor = ({ seq, start, end, ruleId, field }: Place) => `${seq}:${start}:${end}:${ruleId}:${field}`;

function readCursor(cursor: string): Place {
  const [, seq, start, end, ruleId, field] = /^(\d{1,15}):(\d{1,15}):(\d{1,15}):([^:]+):(.+)$/s.exec(cursor) ?? [];
  if (ruleId !== undefined && field !== undefined)
    return { seq: Number(seq), start: Number(start), end: Number(end), ruleId, field };
  throw invalidCursor();
}
