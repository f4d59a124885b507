/** What the running import has told so far, for those who ask in the middle of it. */
import { type ImportFrame, type ImportReport, NO_PROGRESS, type Progress } from "./report.ts";

/** What became of a session. */
export type SessionOutcome = Omit<Extract<ImportFrame, { type: "session" }>, "type">;
/** Sent first to a client that follows a run: the results of its sessions so far, in as many frames as needed; the first one has all of `reading`. */
interface OutcomesFrame {
  type: "outcomes";
  reading: string[];
  sessions: SessionOutcome[];
}
/** The frames a client that follows a run gets. */
export type FollowFrame = ImportFrame | OutcomesFrame | ({ type: "done" } & ImportReport) | { type: "idle" };

/** Sessions in one frame. */
const PAGE = 1_000;

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

  /** A run that the user asked for: it is visible from here on, while it still lists logs. */
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
   * run: the report of the last one, if any, and `idle`. What there is comes a page at a time, each when there is `room`, and frames of what
   * goes on in between. Returns a function that ends it.
   */
  follow(onFrame: (frame: FollowFrame) => void, room: () => Promise<void>): () => void {
    if (!this.#progress) {
      if (this.#last) onFrame({ type: "done", ...this.#last });
      onFrame({ type: "idle" });
      return () => {};
    }
    const past = this.#sessions.values();
    let left = this.#sessions.size; // later ones are sent as they come
    const tell = (reading: string[]) => {
      const sessions: SessionOutcome[] = [];
      for (; left > 0 && sessions.length < PAGE; left--) {
        const one = past.next();
        if (one.done)
          left = 1; // the run is over
        else sessions.push(one.value);
      }
      onFrame({ type: "outcomes", reading, sessions });
    };
    tell([...this.#reading]);
    onFrame(this.#progress);
    this.#followers.add(onFrame);
    const rest = async () => {
      while (left > 0) {
        await room();
        if (!this.#followers.has(onFrame)) return;
        tell([]);
      }
    };
    void rest();
    return () => this.#followers.delete(onFrame);
  }
}
