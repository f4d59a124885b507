/** A home with skills in it, a kernel over it, and a picture of a folder to compare with. */
import { chmod, lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Kernel } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import type { PluginEntry } from "sessarc/serve";
import type { Skill } from "../../plugins/index.ts";
import { createTestKernel, type TestKernel, type TestKernelOptions } from "../kernel.ts";

/** `rescue` and `team` need `security`, `report` needs `causality`. */
const LEFT_OUT = [
  "live",
  "dashboard",
  "security",
  "rescue",
  "team",
  "share",
  "feedback",
  "demo",
  "causality",
  "report",
  "mcp-hub",
  "replay",
  "recall",
  "rules",
  "agent-plugin",
];

/** The plugins that have to do with skills: the adapters, the archive, insights. */
export const skillPlugins = (): PluginEntry[] =>
  defaultPlugins().filter(({ specifier }) => !LEFT_OUT.includes(specifier.split("/").at(-1) ?? ""));

export const skillKernel = (options: TestKernelOptions = {}): Promise<TestKernel> =>
  createTestKernel({ plugins: skillPlugins(), ...options });

/** Text of a SKILL.md. */
export const skillText = (name: string, description = `What ${name} is for`, rest = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${rest}---\n\n# ${name}\n`;

/** Files by path; `[text, mode]` sets the mode. */
export type Files = Readonly<Record<string, string | readonly [text: string, mode: number]>>;

/** Writes files, with the folders above, below `root`; answers it. */
export async function writeTree(root: string, files: Files): Promise<string> {
  for (const [path, value] of Object.entries(files)) {
    const [text, mode] = typeof value === "string" ? [value, 0o644] : value;
    const full = join(root, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
    await chmod(full, mode);
  }
  return root;
}

/** A skill in a tool's folder; answers its path. */
export const plant = (home: string, root: string, name: string, more: Files = {}) =>
  writeTree(join(home, root, name), { "SKILL.md": skillText(name), ...more });

/** Everything below a folder: kind, mode and bytes by path. */
export async function picture(root: string): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  const look = async (path: string): Promise<void> => {
    const full = join(root, path);
    const stat = await lstat(full);
    const mode = (stat.mode & 0o777).toString(8);
    if (stat.isSymbolicLink()) seen[path] = `link ${await readlink(full)}`;
    else if (stat.isDirectory()) {
      if (path !== "") seen[path] = `folder ${mode}`;
      for (const name of await readdir(full)) await look(path === "" ? name : `${path}/${name}`);
    } else if (stat.isFile()) seen[path] = `file ${mode} ${(await readFile(full)).toString("base64")}`;
    else seen[path] = "special";
  };
  await look("");
  return seen;
}

export const toStore = (home: string, id: string) => join(home, "data/skills/store", id);

/** Imports the scanned skill at `path`; throws what the API says when it does not. */
export async function importSkill(t: TestKernel, path: string): Promise<Skill> {
  const { status, body } = await t.send<Skill>("POST", "/api/skills/import", { path });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** Resolves with the next `skill:changed` that is a `what`. */
export function nextChange(kernel: Kernel, what: string): Promise<{ id: string; what: string }> {
  return new Promise((resolve) => {
    const off = kernel.hooks.hook("skill:changed", (event) => {
      if (event.what !== what) return;
      off();
      resolve(event);
    });
  });
}
