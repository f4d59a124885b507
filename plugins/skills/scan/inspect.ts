/** Inspects one folder: is it a skill, and which. Results are cached until the folder changes. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { BoundedMap } from "sessarc";
import { codeOf, isGone, isInside } from "sessarc/files";
import { type Frontmatter, loadFrontmatter, type ReadFrontmatter } from "../content/frontmatter.ts";
import { newStamp, readTree, type Stamp, stampTree, type Tree, TreeError } from "../content/tree.ts";
import type { BrokenReason } from "../types.ts";

const SKILL_FILE = "SKILL.md";
const MAX_SKILL_FILE = 2 ** 20;

export interface Fault {
  code: BrokenReason;
  message: string;
  line: number | null;
}

/** A folder that is a skill. */
interface Valid {
  tree: Tree;
  front: Frontmatter;
  text: string;
}

export type Inspected = { fault: Fault } | Valid;

export interface Inspector {
  /** What `path` leads to, through links; a fault for anything but a folder. */
  resolve(path: string): { real: string } | { fault: Fault };
  /** The folder at the real path, step by step. Its own name is `folder` unless a link gives it another. */
  inspect(real: string, folder?: string): Generator<void, Inspected>;
  /** How many folders were read and not remembered, since the start. */
  readonly reads: number;
}

interface Kept {
  folder: string;
  stamp: string;
  answer: Valid;
}

/** A folder that changed this shortly before it was read may change again without a trace in its times. */
const SETTLED_MS = 50;
const MAX_KEPT = 4_000;

export async function createInspector(): Promise<Inspector> {
  const readFront = await loadFrontmatter();
  const kept = new BoundedMap<string, Kept>(MAX_KEPT);
  const self = {
    reads: 0,
    resolve(path: string) {
      try {
        const real = realpathSync.native(path);
        return lstatSync(real).isDirectory() ? { real } : fault("not-a-folder", `${basename(path)} is not a folder`);
      } catch (error) {
        if (codeOf(error) === "ELOOP") return fault("looping-link", "The link leads to itself");
        if (isGone(error)) {
          const isLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
          return fault("dangling-link", isLink ? "The link leads nowhere" : "There is no such folder");
        }
        return fault("unreadable", `It cannot be read (${codeOf(error)})`);
      }
    },
    *inspect(real: string, folder = basename(real)): Generator<void, Inspected> {
      const known = kept.get(real);
      try {
        if (known?.folder === folder && known.stamp === (yield* stampTree(real)).hash.digest("hex"))
          return known.answer;
      } catch (error) {
        return toFault(error);
      }
      self.reads++;
      const began = Date.now();
      const stamp = newStamp();
      const answer = yield* look(real, folder, readFront, stamp);
      if ("tree" in answer && began - stamp.newest > SETTLED_MS)
        kept.set(real, { folder, stamp: stamp.hash.digest("hex"), answer });
      else kept.delete(real);
      return answer;
    },
  };
  return self;
}

function* look(real: string, folder: string, readFront: ReadFrontmatter, stamp: Stamp): Generator<void, Inspected> {
  const file = readSkillFile(real);
  if ("fault" in file) return file;
  let tree: Tree;
  try {
    tree = yield* readTree(real, undefined, stamp);
  } catch (error) {
    return toFault(error);
  }
  const front = readFront(file.text, folder);
  yield;
  return "fault" in front
    ? fault("frontmatter", front.fault.message, front.fault.line)
    : { tree, front, text: file.text };
}

/** The text of SKILL.md. A link to another file of the skill is followed, any other is a fault. */
export function readSkillFile(real: string): { text: string } | { fault: Fault } {
  const path = join(real, SKILL_FILE);
  const missing = () => fault("no-skill-file", `It has no ${SKILL_FILE} that can be read`);
  try {
    // Not opened before it is known to be a file: a pipe would wait for its writer.
    const stat = lstatSync(path);
    if (stat.isSymbolicLink() && !isInside(real, realpathSync.native(path)))
      return fault("leaves-root", `${SKILL_FILE} is a link that leads outside`);
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const open = fstatSync(fd);
      if (!open.isFile()) return missing();
      if (open.size > MAX_SKILL_FILE) return fault("too-large", `${SKILL_FILE} is over 1 MB`);
      return { text: readFileSync(fd, "utf8") };
    } finally {
      closeSync(fd);
    }
  } catch {
    return missing();
  }
}

function toFault(error: unknown): { fault: Fault } {
  if (error instanceof TreeError) return fault(error.code, error.message);
  throw error;
}

const fault = (code: BrokenReason, message: string, line: number | null = null): { fault: Fault } => ({
  fault: { code, message, line },
});
