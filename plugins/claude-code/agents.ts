/** The replies of a session's sub-agents, which are in separate files and are part of the session's total. */
import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { BoundedMap, type UsageEntry } from "sessarc";
import { type LineParser, readFolder, toRows } from "sessarc/adapter";
import { readRegularSync } from "sessarc/files";

/** All sub-agents of a session together; of more nothing is said, as reading them would hold up everything else. */
const LIMIT = 16 * 1024 * 1024;
/** Below a session's folder: `subagents`, `workflows`, one workflow. */
const DEPTH = 3;

const cache = new BoundedMap<string, { stamp: string; replies: UsageEntry[] }>(256);

/** By the file's path below the session's folder. `path`: the session's log; `open` makes the parser of one. Undefined when the files are too large together. A file is read again when it changed. */
export function repliesOfAgents(
  path: string,
  open: (path: string) => LineParser,
): Map<string, UsageEntry[]> | undefined {
  const files: { path: string; stamp: string }[] = [];
  let bytes = 0;
  const walk = (dir: string, depth: number): void => {
    for (const entry of readFolder(dir)) {
      const at = join(dir, entry.name);
      if (entry.isDirectory() && depth < DEPTH) walk(at, depth + 1);
      if (!entry.isFile() || !/^agent-.*\.jsonl$/.test(entry.name)) continue;
      const stat = statSync(at, { throwIfNoEntry: false });
      if (!stat) continue;
      bytes += stat.size;
      files.push({ path: at, stamp: `${stat.size}:${stat.mtimeMs}` });
    }
  };
  const folder = path.replace(/\.jsonl$/, "");
  walk(join(folder, "subagents"), 0);
  if (bytes > LIMIT) return undefined;
  return new Map(files.map((file) => [relative(folder, file.path), toReplies(file.path, file.stamp, open)]));
}

function toReplies(path: string, stamp: string, open: (path: string) => LineParser): UsageEntry[] {
  const known = cache.get(path);
  if (known?.stamp === stamp) return known.replies;
  const parser = open(path);
  for (const line of readRegularSync(path).split("\n")) {
    if (line.includes('"usage"'))
      for (const { row } of toRows(Buffer.from(line), true)) parser.row(row, { offset: 0, length: line.length });
  }
  const replies = parser.finish().replies ?? [];
  cache.set(path, { stamp, replies });
  return replies;
}
