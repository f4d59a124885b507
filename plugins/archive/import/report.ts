/** What an import tells while it runs and when it is done. */

type Outcome = "imported" | "unchanged" | "skipped" | "failed";

export interface Progress {
  type: "progress";
  done: number;
  total: number;
  bytes: number;
  bytesTotal: number;
  /** Bytes a second. */
  rate: number;
  etaMs: number | null;
  current: string | null;
}
/** Before anything is known of a run. */
export const NO_PROGRESS: Progress = {
  type: "progress",
  done: 0,
  total: 0,
  bytes: 0,
  bytesTotal: 0,
  rate: 0,
  etaMs: null,
  current: null,
};
export type ImportFrame =
  | Progress
  /** A worker takes these next. */
  | { type: "reading"; ids: string[] }
  /** `code` and `message` say why one failed. */
  | { type: "session"; id: string; outcome: Outcome; code?: string; message?: string };

export interface ImportReport {
  imported: number;
  unchanged: number;
  skipped: number;
  failed: { id: string; code: string; message: string }[];
  /** Not begun, or given up half-way, because the run was cancelled: new or changed still. */
  cancelled: number;
  messages: number;
  bytes: number;
  ms: number;
  projects: { id: string; name: string; sessions: number }[];
}
