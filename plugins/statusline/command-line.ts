/** The command that an assistant runs. */
import { cliFile, quoted } from "sessarc/files";
import type { OtherNames } from "./input.ts";

interface Shown {
  template?: string | undefined;
  /** Of the assistant's contract. */
  fields?: OtherNames | undefined;
}

export function commandLine(
  tool: string,
  dataDir: string,
  platform: NodeJS.Platform,
  { template, fields }: Shown,
): string {
  const quote = platform === "win32" ? inDoubleQuotes : quoted;
  const words = [process.execPath, cliFile(), "statusline", "--tool", tool, "--data-dir", dataDir];
  const names = Object.entries(fields ?? {}).map(([field, path]) => `${field}=${path}`);
  if (names.length > 0) words.push("--fields", names.join(","));
  if (template !== undefined) words.push("--template", template);
  return words.map((word) => (/^[\w./:=,-]+$/.test(word) ? word : quote(word))).join(" ");
}

const inDoubleQuotes = (word: string) => `"${word.replaceAll('"', '\\"')}"`;
