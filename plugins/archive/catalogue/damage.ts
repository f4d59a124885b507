/** Whether an error says that a stored transcript is missing or damaged. */
import { isSessarcError } from "sessarc";

export const isDamage = (error: unknown): boolean => isSessarcError(error) && error.code === "TRANSCRIPT_DAMAGED";
