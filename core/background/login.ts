/** The entry that starts the service at login: what would be written (dry run), writing it with a backup, and taking it back byte for byte. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AdapterEnv } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import {
  makeFolderFor,
  type OutsideFile,
  outsideText,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  toDigest,
} from "../outside/file.ts";
import { writeFileAtomic } from "../utils/atomic.ts";
import { exec } from "../utils/exec.ts";
import { ifThere } from "../utils/gone.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { defaultDataDir } from "../utils/path.ts";
import { isNoFile, readRegular, readRegularBytes } from "../utils/regular.ts";
import { superviseWords } from "./control.ts";
import {
  desktopEntry,
  launchAgent,
  MARK,
  PROFILE_BEGIN,
  PROFILE_END,
  profileLines,
  systemdUnit,
  type Unit,
  windowsTask,
} from "./units.ts";

type Kind = "systemd" | "launchd" | "windows-task" | "autostart" | "profile";

export interface LoginPlan {
  kind: Kind;
  /** The file that is written. */
  path: string;
  /** Its whole text afterwards; of a profile the lines that are added. */
  text: string;
  /** Commands that are run afterwards. */
  commands: string[][];
}

/** `login.json` in the data directory: what was written, to take it back. */
interface Written {
  kind: Kind;
  path: string;
  after: string;
  /** Of the file before; null when there was none. */
  before: string | null;
  /** Its copy in the data directory. */
  backup: string | null;
  madeFolder: string | null;
}

const FILE = "login.json";
/** There once the user was asked whether to start at login. */
const ASKED = "login-asked";

/** What the system has for this: found by asking, in this order. */
async function readKind(env: AdapterEnv): Promise<Kind> {
  if (env.platform === "darwin") return "launchd";
  if (env.platform === "win32") return "windows-task";
  if (await hasSystemd(env)) return "systemd";
  return env.env.XDG_CURRENT_DESKTOP || env.env.DESKTOP_SESSION ? "autostart" : "profile";
}

/** Whether a user manager answers: containers and WSL without systemd have the program and no manager. */
const hasSystemd = (env: AdapterEnv): Promise<boolean> =>
  exec("systemctl", ["--user", "show-environment"], { env: env.env, timeoutMs: 3_000 }).then(
    ({ code }) => code === 0,
    () => false,
  );

/** What `start --at-login` writes and runs. Writes nothing. */
export async function planLogin(dataDir: string, args: readonly string[], env: AdapterEnv): Promise<LoginPlan> {
  const kind = await readKind(env);
  const unit: Unit = { words: superviseWords(dataDir, args), variables: toFolders(env) };
  const name = toName(dataDir, env);
  const config = env.env.XDG_CONFIG_HOME || join(env.home, ".config");
  switch (kind) {
    case "systemd":
      return {
        kind,
        path: join(config, "systemd", "user", `${name}.service`),
        text: systemdUnit(unit),
        commands: [
          ["systemctl", "--user", "daemon-reload"],
          ["systemctl", "--user", "enable", `${name}.service`],
        ],
      };
    case "launchd": {
      const path = join(env.home, "Library", "LaunchAgents", `org.${name}.plist`);
      return { kind, path, text: launchAgent(`org.${name}`, unit), commands: [] };
    }
    case "windows-task": {
      const path = join(dataDir, "login-task.xml");
      const commands = [["schtasks", "/Create", "/F", "/TN", name, "/XML", path]];
      return { kind, path, text: windowsTask(unit), commands };
    }
    case "autostart":
      return { kind, path: join(config, "autostart", `${name}.desktop`), text: desktopEntry(unit), commands: [] };
    case "profile":
      return { kind, path: toProfile(env), text: profileLines(unit), commands: [] };
  }
}

/** The one that a login shell reads: bash stops at the first of its own. */
function toProfile(env: AdapterEnv): string {
  const shell = basename(env.env.SHELL ?? "");
  if (shell === "zsh") return join(env.env.ZDOTDIR || env.home, ".zprofile");
  const own = [".bash_profile", ".bash_login"].map((name) => join(env.home, name));
  return (shell === "bash" && own.find((path) => existsSync(path))) || join(env.home, ".profile");
}

/** `sessarc`; of another data directory than the usual one with a part of its digest. */
function toName(dataDir: string, env: AdapterEnv): string {
  if (dataDir === defaultDataDir(env)) return "sessarc";
  return `sessarc-${createHash("sha256").update(dataDir).digest("hex").slice(0, 8)}`;
}

/** Variables that name a folder or a file of the user's: a login session may not know those of the shell. */
function toFolders({ env, home }: AdapterEnv): Record<string, string> {
  const isOwn = (value: string) => value.startsWith(`${home}/`) || value.startsWith(`${home}\\`);
  const folders: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (name === "PATH" || (/^(?:SESSARC_\w+|\w+_(?:HOME|DIR|DB))$/.test(name) && isOwn(value))) folders[name] = value;
  }
  return folders;
}

/** Writes the entry. Throws LOGIN_ENTRY_TAKEN when a file of that name is not ours, SETTINGS_CHANGED, SETTINGS_UNUSABLE, LOGIN_COMMAND_FAILED. */
export async function writeLogin(dataDir: string, plan: LoginPlan, env: AdapterEnv): Promise<void> {
  const past = await readWritten(dataDir);
  if (past && past.path !== plan.path) await removeLogin(dataDir, env);
  const file = await readOutside(plan.path);
  // The scheduler's file is in our own folder, and no UTF-8.
  const old = plan.kind === "windows-task" ? "" : outsideText(file).text;
  const bytes = encode(plan.kind, textAfter(plan, old));
  if (!file.bytes?.equals(bytes)) {
    const again = past?.path === plan.path ? past : undefined;
    await makeFolder(dataDir, 0o700);
    const written: Written = {
      kind: plan.kind,
      path: plan.path,
      after: toDigest(bytes),
      before: again ? again.before : file.bytes && toDigest(file.bytes),
      backup: again ? again.backup : file.bytes && (await backUp(dataDir, file)),
      madeFolder: again ? again.madeFolder : file.bytes ? null : ((await makeFolderFor(plan.path)) ?? null),
    };
    // First what undoes it, then the write: a crash between the two leaves nothing that cannot be undone.
    await writeFileAtomic(join(dataDir, FILE), `${JSON.stringify(written, null, 2)}\n`);
    await replaceOutside(file.bytes === null ? { ...file, mode: 0o644 } : file, bytes);
  }
  await runAll(plan.commands, env);
}

/** Windows' scheduler wants UTF-16, with its mark. */
const encode = (kind: Kind, text: string): Buffer =>
  kind === "windows-task" ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text, "utf8");

function textAfter({ kind, path, text }: LoginPlan, old: string): string {
  if (kind === "profile")
    return `${withoutLines(old)}${old === "" || withoutLines(old).endsWith("\n") ? "" : "\n"}${text}`;
  if (old !== "" && !old.includes(MARK)) throw new SessarcError("LOGIN_ENTRY_TAKEN", { path });
  return text;
}

function withoutLines(text: string): string {
  const begin = text.indexOf(`${PROFILE_BEGIN}\n`);
  const end = text.indexOf(`${PROFILE_END}\n`, begin);
  return begin < 0 || end < 0 ? text : text.slice(0, begin) + text.slice(end + PROFILE_END.length + 1);
}

/** A byte-exact copy in the data directory. */
async function backUp(dataDir: string, file: OutsideFile): Promise<string> {
  const path = join(dataDir, `login-backup-${Date.now()}`);
  await writeFileAtomic(path, file.bytes ?? "");
  return path;
}

/** Takes the entry away: the file is byte for byte what it was when nothing else changed it, else without our lines. False: there is none. */
export async function removeLogin(dataDir: string, env: AdapterEnv): Promise<boolean> {
  const written = await readWritten(dataDir);
  if (!written) return false;
  const name = toName(dataDir, env);
  if (written.kind === "systemd") await runAll([["systemctl", "--user", "disable", `${name}.service`]], env, true);
  if (written.kind === "windows-task") await runAll([["schtasks", "/Delete", "/F", "/TN", name]], env, true);
  const file = await readOutside(written.path);
  if (file.bytes !== null) {
    const isUntouched = toDigest(file.bytes) === written.after;
    const before = written.backup === null ? null : await ifThere(readRegularBytes(written.backup));
    const rest = written.kind === "profile" ? Buffer.from(withoutLines(outsideText(file).text), "utf8") : null;
    const restored = isUntouched ? (before ?? null) : rest;
    if (restored === null || (restored.length === 0 && written.before === null)) await removeOutside(file);
    else await replaceOutside(file, restored);
  }
  if (written.madeFolder !== null) await removeFoldersOf(written.path, written.madeFolder);
  if (written.kind === "systemd") await runAll([["systemctl", "--user", "daemon-reload"]], env, true);
  if (written.backup !== null) await rm(written.backup, { force: true });
  await rm(join(dataDir, FILE), { force: true });
  return true;
}

/** The entry that is there; undefined without one. */
export async function readLogin(dataDir: string): Promise<{ kind: string; path: string } | undefined> {
  const written = await readWritten(dataDir);
  if (!written) return undefined;
  const { bytes } = await readOutside(written.path).catch(() => ({ bytes: null }));
  return bytes === null ? undefined : { kind: written.kind, path: written.path };
}

/** Whether the user was asked before. */
export const readAsked = async (dataDir: string): Promise<boolean> => existsSync(join(dataDir, ASKED));

export const writeAsked = (dataDir: string): Promise<void> =>
  writeFileAtomic(join(dataDir, ASKED), `${new Date().toISOString()}\n`);

async function readWritten(dataDir: string): Promise<Written | undefined> {
  const text = await ifThere(readRegular(join(dataDir, FILE))).catch((error: unknown) => {
    if (isNoFile(error)) return undefined;
    throw error;
  });
  try {
    const value = JSON.parse(text ?? "") as Partial<Written> | null;
    return typeof value?.path === "string" && typeof value.after === "string" ? (value as Written) : undefined;
  } catch {
    return undefined;
  }
}

async function runAll(commands: readonly string[][], env: AdapterEnv, isUndo = false): Promise<void> {
  for (const words of commands) {
    const [file = "", ...args] = words;
    const failed = await exec(file, args, { env: env.env, timeoutMs: 10_000 }).then(
      ({ code, stderr }) => (code === 0 ? undefined : stderr.toString("utf8").trim() || `exit code ${code}`),
      (error: unknown) => String(error),
    );
    // The entry may be gone already: what is left is removed all the same.
    if (failed !== undefined && !isUndo)
      throw new SessarcError("LOGIN_COMMAND_FAILED", { command: words.join(" "), reason: failed });
  }
}
