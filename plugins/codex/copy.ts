/**
 * Which lines of a file are copies of a parent's history: in legacy forks and in sub-agents that take their parent's
 * context along. A paginated fork copies nothing.
 */
import { isRecord, type JsonRecord } from "sessarc";
import { findTurn, type Origin, rowHash } from "./origin.ts";
import { uuidTime } from "./rows.ts";

interface Copy {
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
  /** The turn that was last said to have begun before this thread was made. */
  copied?: string | undefined;
  /** Time of the line before, ms. */
  last?: number | undefined;
}

/** Copies are written in one go; a pause this long after them is the new thread's first life. Used where nothing else decides. */
const PAUSE = 1000;

/** `origin`: what the parent's rollout has, where it or another copy of it is there. */
export function createCopy(origin: Origin | undefined) {
  const state: Copy = { active: false };

  /** Undefined: the row does not say it. */
  const isCopied = (row: JsonRecord, payload: JsonRecord, { turns, rows, hasTurns }: Origin): boolean | undefined => {
    const turn = findTurn(payload);
    if (turn !== undefined && turns.size > 0) return turns.has(turn);
    const hash = hasTurns && turns.size > 0 ? undefined : rowHash(row);
    return hash === undefined ? undefined : rows.has(hash);
  };

  /** Without the parent's rows: by when a turn began, else by the time in its id, else by the first pause. */
  const guess = (payload: JsonRecord, time: number | undefined): void => {
    const turn = findTurn(payload);
    const since = state.since ?? 0;
    const began =
      payload.type === "task_started" && typeof payload.started_at === "number" ? payload.started_at : undefined;
    if (began !== undefined) {
      // Whole seconds.
      if (began >= Math.floor(since / 1000)) state.active = false;
      else state.copied = turn;
      return;
    }
    if (turn !== undefined && turn === state.copied) return;
    const made = turn === undefined ? undefined : uuidTime(turn);
    if (made !== undefined) {
      state.turns = true;
      if (made >= since) state.active = false;
    } else if ((!state.turns || turn !== undefined) && time !== undefined && time >= since) {
      if (time - (state.last ?? Math.max(since, time)) > PAUSE) state.active = false;
    }
  };

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
      if (paginated && !isCopy) return;
      if (typeof payload.forked_from_id === "string") {
        state.active = true;
        state.from = payload.forked_from_id;
      } else if (origin?.repeats) state.active = true;
    },
    /** A session_meta of another thread. */
    begin(from: string): void {
      state.from ??= from;
      state.active = true;
    },
    /** Before each further line. */
    step(row: JsonRecord, payload: JsonRecord, at: string | undefined): void {
      const time = at ? Date.parse(at) : undefined;
      if (state.ordinal !== undefined && typeof row.ordinal === "number") state.active = row.ordinal < state.ordinal;
      else if (state.active && origin) state.active = isCopied(row, payload, origin) ?? true;
      else if (state.active) guess(payload, time);
      if (time !== undefined) state.last = Math.max(time, state.since ?? 0);
    },
  };
}
