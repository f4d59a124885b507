/** Opens a page in the user's browser. */
import { spawn } from "node:child_process";
import type { AdapterEnv } from "../contract/adapter.ts";

/** True when a browser was asked; false when this machine has no way to. Never waits for the browser. */
export function openBrowser(url: string, { platform, env }: AdapterEnv): Promise<boolean> {
  const [command, args] = commandFor(url, platform, env);
  if (command === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "ignore", detached: true, windowsHide: true });
    child.on("error", () => resolve(false));
    child.on("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function commandFor(
  url: string,
  platform: NodeJS.Platform,
  env: AdapterEnv["env"],
): [command: string | undefined, args: string[]] {
  if (env.BROWSER) return [env.BROWSER, [url]];
  if (platform === "darwin") return ["open", [url]];
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler", url]];
  // Without a display `xdg-open` would look for a text browser and take the terminal.
  return [env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? "xdg-open" : undefined, [url]];
}
