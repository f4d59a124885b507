/** Folders of logs that the user added: a backup, another home, a mounted disk. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { createQueue, type Kernel, SessarcError, unknownAssistant } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { isInside, isReachable } from "sessarc/files";
import { readSettings, writeSettings } from "sessarc/serve";
import type { Away } from "./away.ts";
import type { Scan } from "./scan.ts";

export interface Source {
  path: string;
  /** By the user; else it is one of the tool's own places, or the configuration file's. */
  added: boolean;
  exists: boolean;
  /** In a WSL distribution that does not run, which reading would start: it is read again when it runs. */
  away?: true;
  /** Logs below that count, as of the last scan. */
  sessions: number;
}
export interface ToolSources {
  tool: string;
  label: string;
  sources: Source[];
}

export interface Sources {
  /** Every tool's places, from the last scan (the first call makes one). */
  list(): Promise<ToolSources[]>;
  /**
   * Reads `path` too from now on: scans it and answers what it holds. Throws NO_SUCH_FOLDER, FOLDER_REFUSED, FOLDER_KNOWN,
   * INVALID_INPUT for an unknown tool. Resolves when it is on disk.
   */
  add(tool: string, path: string): Promise<Source>;
  /** Reads it no longer; what was imported from it stays. Throws FOLDER_UNKNOWN. */
  remove(tool: string, path: string): Promise<void>;
}

export function createSources(kernel: Kernel, away: Away): Sources {
  const { registry, env, config } = kernel;
  const importer = () => kernel.inject("archive/open").importer;
  /** One change at a time: each reads the file, changes and writes it. */
  const inTurn = createQueue();

  const added = async (tool: string) => (await readSettings(config.dataDir)).sources[tool] ?? [];

  async function store(tool: string, paths: readonly string[]): Promise<void> {
    const { sources } = await readSettings(config.dataDir);
    const { [tool]: _, ...others } = sources;
    await writeSettings(config.dataDir, { sources: paths.length > 0 ? { ...others, [tool]: paths } : others });
    const fixed = config.roots[tool] ?? [];
    await away.place(tool, { own: fixed.length === 0, dirs: [...fixed, ...paths] });
    await importer().scan();
    await kernel.notify("sources:changed", { tool });
  }

  return {
    async list() {
      await away.refresh();
      const scan = importer().lastScan ?? (await importer().scan());
      const { sources } = await readSettings(config.dataDir);
      return Promise.all(
        scan.tools.map(async ({ tool, label, roots }) => {
          const folders = sources[tool] ?? [];
          const own = roots.filter((root) => !folders.some((folder) => isInside(folder, root.path)));
          return {
            tool,
            label,
            sources: [
              ...own.map(({ path, exists, sessions }) => ({ path, exists, sessions, added: false })),
              ...(await Promise.all(folders.map((folder) => toSource(tool, folder, scan, away)))),
            ],
          };
        }),
      );
    },

    add: (tool, path) =>
      inTurn(async () => {
        const adapter = registry.adapters.get(tool);
        if (!adapter) throw unknownAssistant(tool, registry.adapters.keys());
        const real = await realFolder(path);
        if (isInside(await realpath(config.dataDir), real))
          throw new SessarcError("FOLDER_REFUSED", { path, reason: "it is in the folder of the archive itself" });
        const made = adapter.at?.(real).roots(env) ?? [];
        if (made.length === 0 || !made.every((root) => isInside(real, root)))
          throw new SessarcError("FOLDER_REFUSED", { path, reason: `${adapter.label} is read in its own places only` });
        await assertNew(adapter, path, real, made);
        await store(tool, [...(await added(tool)), real]);
        return toSource(tool, real, importer().lastScan, away);
      }),

    remove: (tool, path) =>
      inTurn(async () => {
        const paths = await added(tool);
        if (!paths.includes(path)) throw new SessarcError("FOLDER_UNKNOWN", { path, tool });
        await store(
          tool,
          paths.filter((one) => one !== path),
        );
      }),
  };

  /** What is below a place that is read already, or holds one, would be read twice. */
  async function assertNew(adapter: Adapter, path: string, real: string, made: readonly string[]): Promise<void> {
    for (const folder of await added(adapter.name)) {
      if (isInside(folder, real) || isInside(real, folder))
        throw new SessarcError("FOLDER_KNOWN", { path, known: folder });
    }
    const mine = await Promise.all(made.map(realOrSame));
    for (const root of adapter.roots(env)) {
      const place = await realOrSame(root);
      const overlaps = isInside(place, real) || mine.some((one) => isInside(place, one) || isInside(one, place));
      if (overlaps) throw new SessarcError("FOLDER_KNOWN", { path, known: root });
    }
  }
}

/** Through every symbolic link, so that one folder has one name. */
async function realFolder(path: string): Promise<string> {
  if (!isAbsolute(path)) throw new SessarcError("NO_SUCH_FOLDER", { path });
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch {
    // Absent, closed to us, or no path at all: the answer is the same.
  }
  throw new SessarcError("NO_SUCH_FOLDER", { path });
}

const realOrSame = (path: string) => realpath(path).catch(() => path);

async function toSource(tool: string, path: string, scan: Scan | undefined, away: Away): Promise<Source> {
  if (away.has(path)) return { path, added: true, exists: false, away: true, sessions: 0 };
  const roots = scan?.tools.find((one) => one.tool === tool)?.roots ?? [];
  const sessions = roots.reduce((sum, root) => sum + (isInside(path, root.path) ? root.sessions : 0), 0);
  return { path, added: true, exists: await isReachable(path), sessions };
}
