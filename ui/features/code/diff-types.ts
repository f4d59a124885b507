export interface DiffLine {
  sign: " " | "+" | "-";
  a: number | null;
  b: number | null;
  text: string;
  /** Stretches that differ, as [start, end). */
  words: [number, number][];
}
export interface Hunk {
  oldStart: number;
  newStart: number;
  oldLines: number;
  newLines: number;
  lines: DiffLine[];
}
export interface DiffRequest {
  id: number;
  before: string;
  after: string;
  context: number;
  excerpt: boolean;
}
export interface DiffAnswer {
  id: number;
  /** null: took too long. */
  hunks: Hunk[] | null;
}
