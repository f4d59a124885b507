/** Notifications of the system. The only place that runs its program: by an argument list, so that no text is a command. */
import { isSessarcError, type Kernel } from "sessarc";
import { exec } from "sessarc/files";
import { oneLine, printable } from "sessarc/terminal";

const TIMEOUT_MS = 5_000;
const MOST_TEXT = 200;

export type Show = (title: string, text: string) => void;

interface Program {
  file: string;
  args: string[];
  env?: Record<string, string>;
}

/** Returns at once. Shows nothing in a kernel without an address (a command), without a display, and when it is switched off. */
export function createSystem(kernel: Kernel): Show {
  return (title, text) => {
    if (!kernel.address || kernel.config.notices.system === "off") return;
    const shown = { title: toShown(title), text: toShown(text) };
    const program = findProgram(kernel, shown);
    if (!program) return;
    const { env } = kernel.env;
    exec(program.file, program.args, { env: { ...env, ...program.env }, timeoutMs: TIMEOUT_MS, signal: kernel.closing })
      .then(({ code }) => code)
      .catch((error: unknown) => {
        // A system without the program shows nothing.
        if (kernel.closing.aborted || isSessarcError(error)) return null;
        void kernel.notify("listener:failed", error, { hook: "notice:shown" });
        return null;
      })
      .then((code) => kernel.notify("notice:shown", { ...shown, code }));
  };
}

const toShown = (text: string) => oneLine(printable(text)).slice(0, MOST_TEXT);

/** Undefined where no display is. */
function findProgram(
  { env: { platform, env } }: Kernel,
  { title, text }: { title: string; text: string },
): Program | undefined {
  if (platform === "darwin") return { file: "osascript", args: ["-e", MAC, title, text] };
  if (platform === "win32")
    return {
      file: "powershell.exe",
      args: ["-NoProfile", "-NonInteractive", "-Command", WINDOWS],
      env: { SESSARC_TITLE: title, SESSARC_TEXT: text },
    };
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined;
  return { file: "notify-send", args: ["--app-name=sessarc", "--", title, text] };
}

const MAC = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/** The texts come by the environment. The identity is PowerShell's, since a toast needs a program that the start menu has. */
const WINDOWS = `$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$toast = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02')
$texts = $toast.GetElementsByTagName('text')
[void]$texts.Item(0).AppendChild($toast.CreateTextNode($env:SESSARC_TITLE))
[void]$texts.Item(1).AppendChild($toast.CreateTextNode($env:SESSARC_TEXT))
$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($toast))`;
