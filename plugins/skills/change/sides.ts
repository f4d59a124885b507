/** Versions of a skill with their texts at hand, and what changes from one to the next. */

import type { Blobs } from "sessarc";
import { type Frontmatter, loadFrontmatter } from "../content/frontmatter.ts";
import type { TreeEntry } from "../content/tree.ts";
import { type FileChange, toChanges } from "../link/copies.ts";
import { type Risk, type Side, toRisks } from "./risks.ts";

export interface FileDiff extends FileChange {
  /** Unified; null for anything but text, too long, or too different to be shown. */
  diff: string | null;
}

interface Change {
  files: FileDiff[];
  risks: Risk[];
}

/** Longest text that is compared, and the edits after which two texts are simply different. */
const MAX_TEXT = 256 * 1024;
const MAX_EDITS = 4_000;
const MAX_MS = 25;
const MAX_FILES = 200;

/** From one version to the other: a diff of each file that differs, and what to look at. */
export async function describeChange(
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
  objects: Blobs,
): Promise<Change> {
  const changes = toChanges(before, after);
  const [old, now] = await Promise.all([readSide(before, objects), readSide(after, objects)]);
  const { createTwoFilesPatch } = await import("diff");
  const files: FileDiff[] = [];
  for (const [i, change] of changes.entries()) {
    const texts = [
      textIn(old, change.path, change.status === "added"),
      textIn(now, change.path, change.status === "removed"),
    ];
    const [a, b] = texts;
    const shown = i < MAX_FILES && a !== undefined && b !== undefined && a.length + b.length <= MAX_TEXT;
    const options = { context: 3, maxEditLength: MAX_EDITS, timeout: MAX_MS };
    const diff = shown ? createTwoFilesPatch(change.path, change.path, a, b, "", "", options) : undefined;
    files.push({ ...change, diff: diff === undefined ? null : diff.split("\n").slice(1).join("\n") });
    if (shown) await new Promise(setImmediate);
  }
  return { files, risks: toRisks(old, now) };
}

const textIn = (side: Side, path: string, absent: boolean) => (absent ? "" : side.text(path));

async function readSide(entries: readonly TreeEntry[], objects: Blobs): Promise<Side> {
  const texts = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind === "link") texts.set(entry.path, `→ ${entry.target}\n`);
    if (entry.kind !== "file" || entry.size > MAX_TEXT * 4) continue;
    const bytes = await objects.get(entry.hash);
    const text = bytes && toText(bytes);
    if (text !== undefined) texts.set(entry.path, text);
  }
  const skill = texts.get("SKILL.md");
  const front: Frontmatter | { fault: unknown } | undefined =
    skill === undefined ? undefined : (await loadFrontmatter())(skill);
  return { entries, text: (path) => texts.get(path), front: front && "fault" in front ? undefined : front };
}

function toText(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
