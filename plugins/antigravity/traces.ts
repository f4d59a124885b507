/** What Antigravity's command line keeps of conversations beside them: the typed prompts in `history.jsonl`. */
import { join } from "node:path";
import { type AdapterCapabilities, toText } from "sessarc";
import { type AdapterEnv, uriToPath } from "sessarc/adapter";

type TracesContract = AdapterCapabilities["traces"];

export const traces = (folders: (env: AdapterEnv) => readonly string[]): TracesContract => ({
  files: (env) => folders(env).map((folder) => join(folder, "history.jsonl")),
  read({ conversationId, display, timestamp, workspace }) {
    const [key, text] = [toText(conversationId), toText(display)];
    // Earlier versions name no conversation.
    if (key === undefined || text === undefined) return undefined;
    const at = typeof timestamp === "number" ? timestamp : toText(timestamp);
    return { key, text, at, cwd: uriToPath(workspace) };
  },
});
