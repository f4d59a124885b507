/**
 * Which lines of a file are copies of a parent's history: in legacy forks and in sub-agents that take their parent's
 * context along. A paginated fork copies nothing.
 */
import { isRecord, type JsonRecord } from "sessarc/adapter";
import { uuidTime } from "./rows.ts";

export interface Copy {
  /** The lines now read are copies. */
  active: boolean;
  /** Thread they come from. */
  from?: string | undefined;
  /** When this thread was made, ms. */
  since?: number | undefined;
  /** First ordinal of this thread's own part, where the log says it. */
  ordinal?: number | undefined;
  /** Turn ids carry their time: only a younger turn ends the copy. */
  turns?: boolean | undefined;
  /** Time of the line before, ms. */
  last?: number | undefined;
}

/** Copies are written in one go; a pause this long after them is the new thread's first life. Used where lines have no turn ids. */
const PAUSE = 1000;

export function createCopy(past?: Copy) {
  const state: Copy = { ...(past ?? { active: false }) };
  return {
    state,
    /** This file's own session_meta. */
    own(payload: JsonRecord, at: string | undefined): void {
      state.since = at ? Date.parse(at) : undefined;
      if (typeof payload.subagent_history_start_ordinal === "number") {
        state.ordinal = payload.subagent_history_start_ordinal;
      }
      const paginated = payload.history_mode === "paginated" || payload.history_base !== undefined;
      // A copy that sessarc made for another folder has all of its origin's lines, whatever else it says of itself.
      const isCopy = isRecord(payload.sessarc) && typeof payload.sessarc.copied === "string";
      if (typeof payload.forked_from_id !== "string" || (paginated && !isCopy)) return;
      state.active = true;
      state.from = payload.forked_from_id;
    },
    /** A session_meta of another thread. */
    begin(from: string): void {
      state.from ??= from;
      state.active = true;
    },
    /** Before each further line. */
    step(row: JsonRecord, payload: JsonRecord, at: string | undefined): void {
      const time = at ? Date.parse(at) : undefined;
      if (state.ordinal !== undefined && typeof row.ordinal === "number") {
        state.active = row.ordinal < state.ordinal;
      } else if (state.active) {
        const turn = typeof payload.turn_id === "string" ? uuidTime(payload.turn_id) : undefined;
        const since = state.since ?? 0;
        if (turn !== undefined) {
          state.turns = true;
          if (turn >= since) state.active = false;
        } else if (!state.turns && time !== undefined && time >= since) {
          if (time - (state.last ?? Math.max(since, time)) > PAUSE) state.active = false;
        }
      }
      if (time !== undefined) state.last = Math.max(time, state.since ?? 0);
    },
  };
}
