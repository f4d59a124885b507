/** Windows of plans, as `GET /usage?by=block` answers them. */
import type { Answer } from "../../client.ts";
import { date, dayOf } from "../../format.ts";

type BlockReport = Extract<Answer<"GET /usage">, { by: "block" }>;
export type BlockRow = BlockReport["rows"][number];

export const isBlocks = (answer: Answer<"GET /usage">): answer is BlockReport => answer.by === "block";

export const tokensOf = ({ tokens }: BlockRow): number => Object.values(tokens).reduce((sum, count) => sum + count, 0);

/** Day and time of the clock here. */
export const clockText = (iso: string): string =>
  date(iso, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

const timeOn = (day: number, iso: string): string =>
  dayOf(day) === dayOf(Date.parse(iso)) ? date(iso, { hour: "2-digit", minute: "2-digit" }) : clockText(iso);

/** The time alone where it is today. */
export const timeText = (iso: string): string => timeOn(Date.now(), iso);

/** The time alone where the day is that of `start`. */
export const untilText = ({ start, end }: BlockRow): string => timeOn(Date.parse(start), end);
