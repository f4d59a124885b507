/** Public entry `sessarc/files`: reading and replacing files, other programs' settings, paths inside a folder, running programs. Re-exports only. */
export { applyEdit, editSettings, type SettingsEdit, settingAt } from "../outside/edit.ts";
export {
  findMissingFolder,
  HARD_LINKED,
  makeFolderFor,
  type OutsideFile,
  outsideBytes,
  outsideText,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  tempBeside,
  toDigest,
} from "../outside/file.ts";
export { parseSettings, SettingsProblem, type SettingsSyntax, usable } from "../outside/parse.ts";
export { isAfter } from "../outside/placed-file.ts";
export {
  type Chosen,
  createPlacementGroups,
  type GroupFile,
  type GroupOwner,
  type PlacementGroups,
  type UndoStep,
} from "../outside/placement-group.ts";
export { hasUnsettled, newPlacementId, type PlacedFile, type Placement } from "../outside/placement-journal.ts";
export { createPlacements, type PlacementOwner, type Placements, type PlannedFile } from "../outside/placements.ts";
export { findText as tomlText, tomlStrings } from "../outside/toml-blocks.ts";
export { isTempName, tempName, writeFileAtomic } from "../utils/atomic.ts";
export { cliFile } from "../utils/cli-file.ts";
export { attend, type ExecResult, endProcess, exec, isAlive, startProcess } from "../utils/exec.ts";
export { readSpace, type Space } from "../utils/free-space.ts";
export { GIT_LIST_KEYS, GIT_OPTIONS, GIT_VARIABLES, gitEnvironment, gitFiltersOff } from "../utils/git.ts";
export { codeOf, exists, ifThere, isFolder, isGone, isReachable } from "../utils/gone.ts";
export { isInside, resolveInside } from "../utils/path.ts";
export { createPieces, linesOfPieces, type Piece } from "../utils/pieces.ts";
export { openRegular, readRegular, readRegularSync } from "../utils/regular.ts";
export { quoted } from "../utils/shell.ts";
