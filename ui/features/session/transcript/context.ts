/** What the parts of one session view share. */
import type { ComputedRef, InjectionKey, Ref, ShallowRef } from "vue";
import type { EditState, SessionDetail } from "../../../wire.ts";
import type { Causality } from "./causality.ts";
import type { Transcript } from "./model.ts";
import type { Pages } from "./pages.ts";
import type { Row } from "./rows.ts";

/** What the reader made of the tree of files: stays while commits and panes change. */
export interface FilesState {
  /** Keys of the folders that are open. */
  opened: Set<string>;
  filter: string;
}

export interface SessionContext {
  id: string;
  detail: Ref<SessionDetail | undefined>;
  /** Replaced as a whole when it grows: watch the ref. */
  transcript: ShallowRef<Transcript | undefined>;
  pages: Pages;
  rows: ComputedRef<Row[]>;
  selected: ComputedRef<number | null>;
  /** Selects and, unless told otherwise, brings into view. */
  select(seq: number, options?: { scroll?: boolean; replace?: boolean }): void;
  /** Shows a file beside the transcript: as the tool or the text names it, with or without its folder. Of the edit `seq` its diff. */
  openFile(path: string, seq?: number): void;
  /** Goes along a link: `to` is selected, and going back in the history selects `from`. */
  follow(from: number, to: number): void;
  /** Parts of rows that are opened: `all:12`, `fold:40`. Outlives the row's own mounting. */
  opened: Set<string>;
  toggle(key: string): void;
  files: FilesState;
  causality: Ref<Causality | undefined>;
  /** What became of each edit, by its call. */
  edits: Ref<ReadonlyMap<number, EditState> | undefined>;
  /** Text searched for in this session. */
  find: Ref<string>;
  /** Words and phrases of it that are marked. */
  words: Ref<readonly string[]>;
  /** The match that was last gone to. */
  hit: Ref<{ seq: number } | null>;
}
export const SESSION: InjectionKey<SessionContext> = Symbol("session");
