/** What Gemini CLI keeps of sessions beside their chats: the typed prompts of a project in `logs.json`. */
import { dirname, join } from "node:path";
import { type AdapterCapabilities, toText } from "sessarc";
import { type AdapterEnv, listFolder, textBeside } from "sessarc/adapter";

type TracesContract = AdapterCapabilities["traces"];

export function traces(roots: (env: AdapterEnv) => readonly string[]): TracesContract {
  /** Of the rows of one list. */
  let folder: { of: string; cwd: string | undefined } | undefined;
  return {
    async files(env) {
      const files: string[] = [];
      for (const root of roots(env)) {
        for (const entry of await listFolder(root))
          if (entry.isDirectory()) files.push(join(root, entry.name, "logs.json"));
      }
      return files;
    },
    read(row, path) {
      if (folder?.of !== path)
        folder = { of: path, cwd: textBeside(join(dirname(path), ".project_root"))?.trim() || undefined };
      const [key, text] = [toText(row.sessionId), toText(row.message)];
      if (key === undefined || text === undefined || row.type !== "user") return undefined;
      return { key, text, at: toText(row.timestamp), cwd: folder.cwd };
    },
  };
}
