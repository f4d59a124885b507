/** Puts the plugin into assistants' folders and takes it out again: all of its files or none, by core's placements. */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Kernel, SessarcError, unknownAssistant } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { createPlacementGroups, exists, newPlacementId, readOutside, writeFileAtomic } from "sessarc/files";
import * as v from "valibot";
import { type Files, FORMS, type Form, SKILL, skillAlone } from "./forms.ts";

export interface PluginStatus {
  tool: string;
  /** `plugin`: skill and server. `skill`: the skill alone, which uses the command line. */
  what: "plugin" | "skill";
  /** Where the files are; null: only the assistant's own command knows. */
  folder: string | null;
  installed: boolean;
  /** Installed, and not what this version writes. */
  outdated: boolean;
  /** The assistant has written something on this machine. */
  present: boolean;
}

export interface PluginPlan {
  tool: string;
  folder: string;
  files: { path: string; change: "create" | "replace" | "none"; text: string }[];
  /** Commands of the assistant that install it from that folder; empty: it reads the folder itself. */
  commands: string[];
  /** Whether `sessarc`, which the plugin starts, is on the PATH of this service. */
  onPath: boolean;
}

export interface PluginInstaller {
  /** The installed ones first, then the assistants of this machine. */
  status(): Promise<PluginStatus[]>;
  /** What `install` would write; nothing is written. Throws AGENT_PLUGIN_TOOL_UNKNOWN, AGENT_PLUGIN_IN_THE_WAY, SETTINGS_UNUSABLE. */
  plan(tool: string): Promise<PluginPlan>;
  /** The same, written: all files or none. */
  install(tool: string): Promise<PluginPlan>;
  /** Removes exactly the files that were written, and the folders made for them. Throws SETTINGS_CHANGED for a file that was edited. */
  uninstall(tool: string): Promise<{ removed: boolean; commands: string[] }>;
}

interface Place {
  what: PluginStatus["what"];
  folder: string;
  files: Files;
  form: Form | undefined;
}

const note = v.object({ tool: v.string() });

export function createPluginInstaller(kernel: Kernel): PluginInstaller {
  const { env, storage } = kernel;
  const groups = createPlacementGroups<{ tool: string }, null>({
    folder: storage.path("files", "backups", "agent-plugin"),
    readOnly: storage.readOnly,
    note: (value) => v.parse(note, value),
    fileNote: () => null,
    // A file is the plugin's as a whole: there is nothing of anyone else in it.
    has: async () => false,
    merge: async ({ bytes }) => bytes ?? Buffer.alloc(0),
    damaged: ({ path }) => new SessarcError("AGENT_PLUGIN_DAMAGED", { path }),
    takenBack: async () => {},
    putBack: async () => {},
  });

  const places = (): Map<string, Place> => {
    const found = new Map<string, Place>();
    const adapters: Adapter[] = [...kernel.registry.adapters.values()];
    for (const { name, skills } of adapters) {
      const form = FORMS[name];
      const dir = skills?.dirs(env).find(({ scope }) => scope === "user");
      if (form) {
        const folder = form.folder?.(env) ?? storage.path("agent-plugin", name);
        found.set(name, { what: "plugin", folder, files: form.files, form });
      } else if (dir) found.set(name, { what: "skill", folder: join(dir.path, SKILL), files: skillAlone, form });
    }
    return found;
  };

  const placeOf = (tool: string): Place => {
    const all = places();
    const place = all.get(tool);
    if (!place && !kernel.registry.adapters.has(tool)) throw unknownAssistant(tool, all.keys());
    if (!place) throw new SessarcError("AGENT_PLUGIN_TOOL_UNKNOWN", { tool, known: [...all.keys()] });
    return place;
  };

  /** The files of this assistant that are still in place, oldest placement first. */
  async function placed(tool: string) {
    const all = (await groups.all()).filter((one) => one.state === "placed" && one.note.tool === tool);
    return all
      .reverse()
      .flatMap((placement) =>
        placement.files.filter(({ undoneAt }) => undoneAt === null).map((entry) => ({ placement, entry })),
      );
  }

  async function plan(tool: string): Promise<PluginPlan> {
    const { folder, files, form } = placeOf(tool);
    const ours = new Set((await placed(tool)).map(({ entry }) => entry.path));
    const planned: PluginPlan["files"] = [];
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      const { bytes } = await readOutside(path);
      if (bytes !== null && !ours.has(path)) throw new SessarcError("AGENT_PLUGIN_IN_THE_WAY", { path });
      const change = bytes === null ? "create" : bytes.equals(Buffer.from(text)) ? "none" : "replace";
      planned.push({ path, change, text });
    }
    return { tool, folder, files: planned, commands: [...(form?.install?.(folder) ?? [])], onPath: await isOnPath() };
  }

  async function isPresent(adapter: Adapter | undefined): Promise<boolean> {
    for (const root of adapter?.roots(env) ?? []) if (await exists(root)) return true;
    return false;
  }

  async function isOnPath(): Promise<boolean> {
    const isWindows = env.platform === "win32";
    const names = isWindows ? ["sessarc.cmd", "sessarc.exe"] : ["sessarc"];
    const folders = (env.env.PATH ?? "").split(isWindows ? ";" : ":").filter(Boolean);
    for (const folder of folders) for (const name of names) if (await exists(join(folder, name))) return true;
    return false;
  }

  async function remove(tool: string): Promise<boolean> {
    const chosen = await placed(tool);
    if (chosen.length === 0) return false;
    await groups.undo(chosen, await groups.planUndo(chosen, false));
    return true;
  }

  return {
    status: () =>
      groups.alone(async () => {
        const all: PluginStatus[] = [];
        for (const [tool, { what, folder, files, form }] of places()) {
          const installed = (await placed(tool)).length > 0;
          const same = installed && (await isAsBuilt(folder, files));
          const present = await isPresent(kernel.registry.adapters.get(tool));
          all.push({
            ...{ tool, what, folder: form?.install ? null : folder },
            ...{ installed, outdated: installed && !same, present },
          });
        }
        const rank = ({ installed, present }: PluginStatus) => (installed ? 0 : present ? 1 : 2);
        return all.sort((a, b) => rank(a) - rank(b));
      }),
    plan: (tool) => groups.alone(() => plan(tool)),
    install: (tool) =>
      groups.alone(async () => {
        const planned = await plan(tool);
        if (planned.files.every(({ change }) => change === "none")) return planned;
        await remove(tool);
        const files = [];
        for (const { path, text } of planned.files)
          files.push({ file: await readOutside(path), bytes: Buffer.from(text), note: null });
        await groups.write({ id: newPlacementId(new Date()), note: { tool }, files }, async () => {}, { tool });
        return planned;
      }),
    uninstall: (tool) =>
      groups.alone(async () => ({ removed: await remove(tool), commands: [...(placeOf(tool).form?.remove ?? [])] })),
  };
}

async function isAsBuilt(folder: string, files: Files): Promise<boolean> {
  for (const [name, text] of Object.entries(files)) {
    const { bytes } = await readOutside(join(folder, name));
    if (!bytes?.equals(Buffer.from(text))) return false;
  }
  return true;
}

/** Writes a form into a folder that is empty or not there. */
export async function writeForm(folder: string, files: Files): Promise<void> {
  const written: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFileAtomic(path, text, { mode: 0o644 });
      written.push(path);
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true });
    throw error;
  }
}
