/** Writes accepted lines into the instructions of a project and takes them out again, byte for byte where nothing else changed the file. */
import { type Kernel, SessarcError } from "sessarc";
import { createPlacements, type OutsideFile, outsideBytes, outsideText, type PlannedFile } from "sessarc/files";
import * as v from "valibot";
import { addLine, type OurLines, removeLines } from "./lines.ts";

/** What a write is, or would be. */
export interface Written {
  path: string;
  /** The file's text before and after. */
  before: string;
  after: string;
  /** Byte-exact copy of the file as it was before our first line; null where there was none, or nothing was written. */
  backupPath: string | null;
}
export interface Removed {
  path: string;
  removed: boolean;
  /** The file is byte for byte as it was before our first line. */
  restored: boolean;
}

export interface Editor {
  /** `path`: the file itself, no link. Throws SETTINGS_UNUSABLE, SETTINGS_CHANGED; the file is unchanged then. */
  add(path: string, line: string, dryRun: boolean): Promise<Written>;
  remove(path: string, line: string): Promise<Removed>;
}

const ours = v.object({ lines: v.array(v.string()), heading: v.boolean() });
const NONE: OurLines = { lines: [], heading: false };
const NEW_MODE = 0o644;

export function createEditor({ storage }: Kernel): Editor {
  const placements = createPlacements<null, OurLines>({
    folder: storage.path("files", "backups", "rules"),
    readOnly: storage.readOnly,
    note: () => null,
    fileNote: (value) => v.parse(ours, value),
    async withdraw(file, entry) {
      if (!entry) return undefined;
      const { text, bom } = outsideText(file);
      const rest = removeLines(text, entry.note.lines, entry.note.heading);
      if (rest === undefined) return undefined;
      return entry.created && rest.trim() === "" ? null : outsideBytes(rest, bom);
    },
  });

  async function add(path: string, line: string, dryRun: boolean): Promise<Written> {
    const plan = await placements.plan(path, path, async (text, known) => {
      const before = known?.note ?? NONE;
      const isOurs = before.lines.some((one) => text.split(/\r?\n/).includes(`- ${one}`));
      const { text: after, ours: note } = addLine(text, line, isOurs ? before : NONE);
      return { text: after, ours: isOurs, note };
    });
    refuseReadOnly(plan.file);
    const { before, after } = plan;
    if (dryRun) return { path, before, after, backupPath: null };
    const placement = await placements.write(readable(plan), null);
    return { path, before, after, backupPath: placements.backupPath(placement) };
  }

  async function remove(path: string, line: string): Promise<Removed> {
    const known = (await placements.find(path))?.files[0];
    const left = known?.note.lines.filter((one) => one !== line) ?? [];
    if (!known || left.length === 0) return { path, ...(await placements.undo(path, path)) };
    let removed = false;
    const plan = await placements.plan(path, path, async (text) => {
      const rest = removeLines(text, [line], false);
      removed = rest !== undefined;
      return { text: rest ?? text, ours: true, note: { ...known.note, lines: left } };
    });
    refuseReadOnly(plan.file);
    await placements.write(plan, null);
    return { path, removed, restored: false };
  }

  return {
    add: (path, line, dryRun) => placements.alone(() => add(path, line, dryRun)),
    remove: (path, line) => placements.alone(() => remove(path, line)),
  };
}

/** A new file of a project is for all who work on it. */
const readable = (plan: PlannedFile<OurLines>): PlannedFile<OurLines> =>
  plan.file.bytes === null ? { ...plan, file: { ...plan.file, mode: NEW_MODE } } : plan;

/** It would be replaced by a rename, which its folder allows. */
function refuseReadOnly({ path, bytes, mode }: OutsideFile): void {
  if (bytes !== null && (mode & 0o222) === 0)
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it is read-only" });
}
