/** What the assistants of the sample home are set up with. None of it is run or asked for by itself. */
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
