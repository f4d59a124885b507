/** A throw-away home with sample logs, for `--demo` and for machines without logs. */
import { rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeAsked } from "../background/login.ts";
import type { Adapter, AdapterEnv } from "../contract/adapter.ts";
import { makeFolder } from "../utils/make-folder.ts";

export interface DemoHome {
  env: AdapterEnv;
  dataDir: string;
  sessions: number;
  remove(): Promise<void>;
}

/** Variables a program needs to run; none of those that say where an assistant keeps its logs. */
const KEPT = [
  "PATH",
  "LANG",
  "LC_ALL",
  "TZ",
  "TERM",
  "TMPDIR",
  "TEMP",
  "SystemRoot",
  "ComSpec",
  "NO_COLOR",
  "FORCE_COLOR",
];

export async function createDemoHome(env: AdapterEnv): Promise<DemoHome> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "sessarc-demo-")));
  const removeNow = () => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  // For ends that wait for nothing, a second Ctrl-C among them.
  process.once("exit", removeNow);
  const remove = async () => {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
    process.off("exit", removeNow);
  };
  try {
    const { writeDemo } = await import("sessarc/plugins/demo");
    const { sessions } = await writeDemo({ home, platform: env.platform, setup: true });
    const kept = Object.fromEntries(KEPT.map((name) => [name, env.env[name]]));
    const appData = env.platform === "win32" ? { APPDATA: join(home, "AppData", "Roaming") } : {};
    const dataDir = join(home, ".sessarc");
    // Sample data is not to start at login.
    await makeFolder(dataDir, 0o700);
    await writeAsked(dataDir);
    return { env: { ...env, home, env: { ...kept, ...appData } }, dataDir, sessions, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Whether any adapter finds at least one session. Looks at directories only. */
export async function hasLogs(adapters: Iterable<Adapter>, env: AdapterEnv): Promise<boolean> {
  for (const adapter of adapters) {
    for (const root of adapter.roots(env)) {
      for await (const _ of adapter.scan(root, env)) return true;
    }
  }
  return false;
}
