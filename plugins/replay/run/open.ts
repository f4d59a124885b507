/** The file browser of the desktop. */
import { spawn } from "node:child_process";
import { SessarcError } from "sessarc";

const PROGRAMS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer.exe", linux: "xdg-open" };

/** Resolves when the browser was started. Throws REPLAY_NO_FILE_BROWSER on a machine without one, or without a screen. */
export async function openBrowser(path: string, platform: NodeJS.Platform): Promise<void> {
  const program = PROGRAMS[platform];
  const screen = platform !== "linux" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (program === undefined || !screen) throw new SessarcError("REPLAY_NO_FILE_BROWSER", {});
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, [path], { stdio: "ignore", detached: true });
    child.once("error", () => reject(new SessarcError("REPLAY_NO_FILE_BROWSER", {})));
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
