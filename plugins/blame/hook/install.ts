/** Puts a line into a repository's `prepare-commit-msg` hook, and takes it out again byte for byte. What else is in the hook runs after it. */
import { createHash } from "node:crypto";
import { chmod, stat } from "node:fs/promises";
import { SessarcError } from "sessarc";
import { createPlacements, ifThere, outsideBytes, outsideText } from "sessarc/files";
import * as v from "valibot";
import "../verify/errors.ts";

/** Ends our line, by which it is found again. */
const MARK = "# sessarc: names the session and assistant of staged lines";
const SHELL = /^#!\s*\S*(?:\/|\s)(?:ba|da|k|z|a)?sh\b/;

interface Hook {
  /** Of the hook. */
  path: string;
  /** What it runs; the message file is its last argument. */
  command: string;
}

export interface HookChanged {
  path: string;
  /** Byte-exact copy of the hook that was there; null if there was none. */
  backupPath: string | null;
}

/** `folder`: in the data directory. */
export function createHooks(folder: string) {
  const placements = createPlacements<null, null>({
    folder,
    note: () => null,
    fileNote: (value) => v.parse(v.null(), value),
    async withdraw(file) {
      const { text, bom } = outsideText(file);
      const rest = withoutLine(text);
      return rest === text ? undefined : rest.trim() === "#!/bin/sh" ? null : outsideBytes(rest, bom);
    },
  });

  return {
    /** Throws HOOK_UNUSABLE, SETTINGS_UNUSABLE, SETTINGS_CHANGED; the hook is unchanged then. */
    install: ({ path, command }: Hook): Promise<HookChanged> =>
      placements.alone(async () => {
        const before = await ifThere(stat(path));
        // Git does not run it; ours would not be run either.
        if (before && process.platform !== "win32" && (before.mode & 0o100) === 0)
          throw new SessarcError("HOOK_UNUSABLE", { path, reason: "it is not executable, so git does not run it" });
        const plan = await placements.plan(nameOf(path), path, async (text) => {
          const rest = withoutLine(text);
          const [first = "", ...more] = (rest.trim() === "" ? "#!/bin/sh\n" : rest).split("\n");
          if (!SHELL.test(first))
            throw new SessarcError("HOOK_UNUSABLE", { path, reason: "it is no script of a shell" });
          const line = `${command} "$1" >/dev/null 2>&1 || : ${MARK}`;
          return { text: [first, line, ...more].join("\n"), ours: rest !== text, note: null };
        });
        const placement = await placements.write(plan, null);
        if (!before) await chmod(path, 0o755);
        return { path, backupPath: placements.backupPath(placement) };
      }),
    uninstall: (path: string) => placements.alone(() => placements.undo(nameOf(path), path)),
  };
}

const nameOf = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 16);

const withoutLine = (text: string) =>
  text
    .split("\n")
    .filter((line) => !line.trimEnd().endsWith(MARK))
    .join("\n");
