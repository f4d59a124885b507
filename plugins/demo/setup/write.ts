/** What the assistants of the sample home are set up with. sessarc neither runs nor requests any of it. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface SetupFile {
  /** Below the home. */
  path: string;
  content: string;
}

export async function writeSetup(home: string, files: readonly SetupFile[]): Promise<void> {
  for (const { path, content } of files) {
    const file = join(home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
}
