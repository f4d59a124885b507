/** Texts of the entries that start the service at login. Each has one line that says who wrote it. */

import { quoted } from "../utils/shell.ts";
/** A file with it was written by us. */
export const MARK = "Written by sessarc, which removes it again: see sessarc help stop";

export interface Unit {
  /** Program and arguments. */
  words: readonly string[];
  /** Variables that name the user's folders, for a session that does not read the shell's profile. */
  variables: Readonly<Record<string, string>>;
}

/** A user unit of systemd. */
export function systemdUnit({ words, variables }: Unit): string {
  return [
    `# ${MARK}`,
    "[Unit]",
    "Description=sessarc, the archive of coding assistants' sessions",
    "Documentation=https://github.com/sessarc/sessarc",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${words.map(systemdWord).join(" ")}`,
    ...Object.entries(variables).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`),
    // Its supervisor starts the service again after a crash; this is for the supervisor.
    "Restart=on-failure",
    "RestartSec=60",
    "RestartPreventExitStatus=2 4",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** In double quotes; `%` begins a specifier, `$` a variable. */
const systemdWord = (word: string) =>
  `"${word.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

/** An agent of launchd. */
export function launchAgent(label: string, { words, variables }: Unit): string {
  const text = (value: string) => `<string>${xml(value)}</string>`;
  const pairs = Object.entries(variables).map(([name, value]) => `    <key>${xml(name)}</key>${text(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${MARK} -->`,
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${text(label)}`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...words.map((word) => `    ${text(word)}`),
    "  </array>",
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...pairs,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>ProcessType</key><string>Background</string>",
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

/** A task of Windows' scheduler, for this user at logon. */
export function windowsTask({ words }: Unit): string {
  const [program = "", ...rest] = words;
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    `  <RegistrationInfo><Description>${xml(MARK)}</Description></RegistrationInfo>`,
    "  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>",
    '  <Principals><Principal id="Author"><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>',
    "  <Settings>",
    "    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
    "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
    "    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>",
    "    <AllowHardTerminate>true</AllowHardTerminate>",
    "    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
    "    <Enabled>true</Enabled>",
    "  </Settings>",
    '  <Actions Context="Author">',
    "    <Exec>",
    `      <Command>${xml(program)}</Command>`,
    `      <Arguments>${xml(rest.map(windowsWord).join(" "))}</Arguments>`,
    "    </Exec>",
    "  </Actions>",
    "</Task>",
    "",
  ].join("\r\n");
}

/** As the C runtime of a program takes its arguments apart: backslashes count before a quote alone. */
const windowsWord = (word: string) =>
  word !== "" && !/[\s"]/.test(word)
    ? word
    : `"${word.replace(/(\\*)("|$)/g, (_, slashes: string, quote: string) => `${slashes}${slashes}${quote && '\\"'}`)}"`;

/** An entry of the desktop's autostart. */
export function desktopEntry({ words, variables }: Unit): string {
  const all = ["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...words];
  return [
    "[Desktop Entry]",
    `# ${MARK}`,
    "Type=Application",
    "Name=sessarc",
    "Comment=The archive of coding assistants' sessions",
    `Exec=${all.map(desktopWord).join(" ")}`,
    "NoDisplay=true",
    "X-GNOME-Autostart-enabled=true",
    "",
  ].join("\n");
}

/** In double quotes; the file's own escapes come on top of them. */
const desktopWord = (word: string) =>
  `"${word
    .replace(/["`$\\]/g, "\\$&")
    .replaceAll("\\", "\\\\")
    .replaceAll("%", "%%")}"`;

export const PROFILE_BEGIN = "# >>> sessarc >>>";
export const PROFILE_END = "# <<< sessarc <<<";

/** Lines for a shell's profile: they start the service unless it runs, in the background, without a word. */
export function profileLines({ words, variables }: Unit): string {
  // What sets these variables may come later in the profile.
  const all = ["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...words];
  const line = all.map(quoted).join(" ");
  return [PROFILE_BEGIN, `# ${MARK}`, `(${line} >/dev/null 2>&1 &)`, PROFILE_END, ""].join("\n");
}

const xml = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot" }[sign]};`);
