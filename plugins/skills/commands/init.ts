/** `sessarc skills init <folder>`: the beginning of a skill. */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type CommandContext, printable, UsageError } from "sessarc/terminal";
import { toId } from "../content/names.ts";

const template = (name: string) => `---
name: ${name}
description: What this skill does, and when an assistant should use it. Replace this sentence.
---

# ${name}

Write here what the assistant should do, step by step. Longer texts go to \`references/\`, programs to \`scripts/\`.
`;

/** Makes the folder and its SKILL.md; leaves a folder that is there already as it is. */
export async function init(ctx: CommandContext, [folder = ""]: readonly string[]): Promise<number> {
  const place = resolve(ctx.cwd, folder);
  const name = basename(place);
  if (toId(name) !== name)
    throw new UsageError(
      `A skill is named by its folder: lower-case letters, digits and single hyphens, as in ${toId(name)}`,
    );
  const file = join(place, "SKILL.md");
  await mkdir(place, { recursive: true });
  try {
    await writeFile(file, template(name), { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${printable(file)} is there already`);
  }
  if (ctx.json) ctx.out(JSON.stringify({ name, path: place }));
  else {
    ctx.out(`Wrote ${printable(file)}`);
    ctx.err(`When it is written: sessarc skills import ${printable(folder)}`);
  }
  return 0;
}
