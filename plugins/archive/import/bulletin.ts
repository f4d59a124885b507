/** What the running import has told so far, for those who ask in the middle of it. */
import { type ImportFrame, type ImportReport, NO_PROGRESS, type Progress } from "./report.ts";

/** What became of a session. */
export type SessionOutcome = Omit<Extract<ImportFrame, { type: "session" }>, "type">;
/** Sent first to whoever follows a run: what became of its sessions so far. */
export interface OutcomesFrame {
  type: "outcomes";
  reading: string[];
  sessions: SessionOutcome[];
}
/** What whoever follows a run is told. */
export type FollowFrame = ImportFrame | OutcomesFrame | ({ type: "done" } & ImportReport) | { type: "idle" };

/** Memory: an entry for each session of the run, gone when it ends. */
export class Bulletin {
  readonly #reading = new Set<string>();
  readonly #sessions = new Map<string, SessionOutcome>();
  readonly #followers = new Set<(frame: FollowFrame) => void>();
  #progress: Progress | undefined;
  #last: ImportReport | undefined;

  get progress(): Progress | { type: "idle" } {
    return this.#progress ?? { type: "idle" };
  }

  /** A run somebody asked for: it shows from here on, while it still looks for what there is. */
  begin(): void {
    this.#progress = NO_PROGRESS;
  }

  take(frame: ImportFrame): void {
    if (frame.type === "progress") this.#progress = frame;
    else if (frame.type === "reading") for (const id of frame.ids) this.#reading.add(id);
    else {
      const { type: _, ...session } = frame;
      this.#reading.delete(frame.id);
      this.#sessions.set(frame.id, session);
    }
    for (const follower of this.#followers) follower(frame);
  }

  /** The run is over; without a report it failed. `asked`: its report is kept for those who come later. */
  end(report: ImportReport | undefined, asked: boolean): void {
    this.#progress = undefined;
    this.#reading.clear();
    this.#sessions.clear();
    if (asked) this.#last = report ?? this.#last;
    for (const follower of this.#followers) follower(report ? { type: "done", ...report } : { type: "idle" });
    this.#followers.clear();
  }

  /**
   * Calls back with what there is so far, then with every frame to the end of the run (`done`, or `idle` where it failed). Without a
   * run: the report of the last one, if any, and `idle`. Returns a function that ends it.
   */
  follow(onFrame: (frame: FollowFrame) => void): () => void {
    if (!this.#progress) {
      if (this.#last) onFrame({ type: "done", ...this.#last });
      onFrame({ type: "idle" });
      return () => {};
    }
    onFrame({ type: "outcomes", reading: [...this.#reading], sessions: [...this.#sessions.values()] });
    onFrame(this.#progress);
    this.#followers.add(onFrame);
    return () => this.#followers.delete(onFrame);
  }
}
