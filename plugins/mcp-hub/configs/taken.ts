/** What is recorded of a takeover and of each of its files. */
import type { PlacedFile, Placement, PlacementGroups } from "sessarc/files";
import * as v from "valibot";

const path = v.array(v.string());
export const runNote = v.object({
  mode: v.picklist(["import", "disable", "replace"]),
  /** Services as they were, sealed; while files are written. */
  services: v.nullable(v.string()),
});
export const fileNote = v.object({
  tools: v.array(v.string()),
  syntax: v.picklist(["json", "jsonc", "toml"]),
  /** Length of the original. */
  bytes: v.number(),
  /** What was done, without values: the original and the file have them. */
  edits: v.array(
    v.union([
      v.object({ kind: v.literal("remove"), path }),
      v.object({ kind: v.literal("set"), path, key: v.string() }),
    ]),
  ),
});
export type RunNote = v.InferOutput<typeof runNote>;
export type FileNote = v.InferOutput<typeof fileNote>;
export type TakenFile = PlacedFile<FileNote>;
export type TakeoverRun = Placement<RunNote, FileNote>;
export type Takeovers = PlacementGroups<RunNote, FileNote>;
