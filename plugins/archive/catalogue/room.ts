/** What the archive takes of the disk: by part and by assistant, and what of it can be given back. */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel, Services } from "sessarc";
import { readSpace } from "sessarc/files";

export interface Room {
  /** Of the catalogue. */
  bytes: number;
  /** Bytes of them that are empty. */
  free: number;
}

export interface StorageReport {
  /** Free on the disk; null where the system does not report it. */
  free: number | null;
  /** Of all parts. */
  bytes: number;
  catalogue: Room;
  transcripts: { bytes: number };
  /** Stored logs of assistants; null without the plugin that stores them. */
  logs: StoredLogsReport | null;
  /** What can be made again from the rest: indexes, counts. */
  derived: { bytes: number };
  /** Backups of other programs' files, frozen shares, feedback. */
  files: { bytes: number };
  /** Those with something stored, the largest first. */
  tools: ToolRoom[];
  /** What can be given back: by rebuilding the catalogue, and by removing stored logs that their assistants still have. */
  back: { catalogue: number; logs: number };
}

export interface ToolRoom {
  tool: string;
  label: string;
  sessions: number;
  transcripts: number;
  logs: number;
}

/** As the service that stores logs reports it. */
type StoredLogsReport = Omit<Awaited<ReturnType<Services["rescue"]["stored"]>>, "tools">;

/** Files change seldom and cost a `stat` each. */
const FRESH_MS = 60_000;

export async function readRoom({ storage: { db } }: Pick<Kernel, "storage">): Promise<Room> {
  const pages = await db.get<{ page_count: number }>("pragma page_count");
  const free = await db.get<{ freelist_count: number }>("pragma freelist_count");
  const size = (await db.get<{ page_size: number }>("pragma page_size"))?.page_size ?? 0;
  return { bytes: (pages?.page_count ?? 0) * size, free: (free?.freelist_count ?? 0) * size };
}

interface TextRow {
  tool: string;
  sessions: number;
  bytes: number;
}

/** Cost: sums in SQL once per change of the archive, one `stat` per derived file once a minute, and one system call. */
export function createRoom(kernel: Kernel, generation: () => number): () => Promise<StorageReport> {
  const { db, dataDir } = kernel.storage;
  let texts: { generation: number; rows: Promise<TextRow[]> } | undefined;
  let folders: { at: number; bytes: Promise<readonly [number, number]> } | undefined;

  const readTexts = () => {
    if (texts?.generation !== generation()) {
      const rows = db.all<TextRow>(
        `select tool, sum(one) as sessions, sum(bytes) as bytes from (
           select tool, 1 as one, transcript_bytes as bytes from session
           union all select tool, 0, earlier.transcript_bytes from earlier join session on session.id = earlier.session_id) as found
         group by tool`,
      );
      texts = { generation: generation(), rows };
      rows.catch(() => {
        texts = undefined;
      });
    }
    return texts.rows;
  };
  const readFolders = () => {
    const now = Date.now();
    if (!folders || now - folders.at > FRESH_MS) {
      const bytes = Promise.all([bytesBelow(kernel.storage.path("index")), bytesBelow(kernel.storage.path("files"))]);
      folders = { at: now, bytes };
      bytes.catch(() => {
        folders = undefined;
      });
    }
    return folders.bytes;
  };

  return async () => {
    const [rows, [derived, files], catalogue, { free }, stored] = await Promise.all([
      readTexts(),
      readFolders(),
      readRoom(kernel),
      readSpace(dataDir),
      kernel.find("rescue")?.stored(),
    ]);
    const tools = new Map<string, ToolRoom>();
    const of = (tool: string) => {
      const label = kernel.registry.adapters.get(tool)?.label ?? tool;
      const one = tools.get(tool) ?? { tool, label, sessions: 0, transcripts: 0, logs: 0 };
      tools.set(tool, one);
      return one;
    };
    for (const { tool, sessions, bytes } of rows) Object.assign(of(tool), { sessions, transcripts: bytes });
    for (const { tool, bytes } of stored?.tools ?? []) of(tool).logs = bytes;
    const transcripts = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      free: Number.isFinite(free) ? free : null,
      bytes: catalogue.bytes + transcripts + (stored?.stored ?? 0) + derived + files,
      catalogue,
      transcripts: { bytes: transcripts },
      logs: stored ? withoutTools(stored) : null,
      derived: { bytes: derived },
      files: { bytes: files },
      tools: [...tools.values()].sort((a, b) => b.transcripts + b.logs - a.transcripts - a.logs),
      back: { catalogue: catalogue.free, logs: stored?.removable ?? 0 },
    };
  };
}

function withoutTools<T extends { tools: unknown }>({ tools: _, ...rest }: T): Omit<T, "tools"> {
  return rest;
}

/** Sizes of all regular files below a folder; a file that is removed meanwhile counts as nothing. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await bytesBelow(path);
    else if (entry.isFile()) sum += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}
