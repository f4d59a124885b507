/** What Qwen Code keeps of sessions beside their logs: the typed prompts of a project in `tmp/<hash of its folder>/logs.json`. */
import { join } from "node:path";
import { type AdapterCapabilities, toText } from "sessarc";
import { type AdapterEnv, listFolder } from "sessarc/adapter";

type TracesContract = AdapterCapabilities["traces"];

export const traces = (base: (env: AdapterEnv) => string): TracesContract => ({
  async files(env) {
    const folder = join(base(env), "tmp");
    const entries = await listFolder(folder);
    return entries.filter((one) => one.isDirectory()).map(({ name }) => join(folder, name, "logs.json"));
  },
  read(row) {
    const [key, text] = [toText(row.sessionId), toText(row.message)];
    if (key === undefined || text === undefined || row.type !== "user") return undefined;
    return { key, text, at: toText(row.timestamp) };
  },
});
