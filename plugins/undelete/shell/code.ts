/** Files that code on a command line may destroy: `os.remove("a")`, `open("a", "w")`. */
import type { ShellWord } from "./words.ts";

const DESTROYS =
  /\b(?:remove|unlink|rmtree|rmdir|rm|rmSync|unlinkSync|rmdirSync|removeSync|rename|renameSync|replace|move|truncate|truncateSync|writeFile|writeFileSync|write_text|write_bytes|copyFile\w*|copy\w*|delete|rm_rf|rm_r|write|unlink_if_exists)\b|\bopen\s*\([^)]*["'][wx+]/;
const CODE_LIMIT = 20_000;
const NAMES_LIMIT = 50;

/** Every text in code that destroys something may be the name of a file. */
export function codeHarms(code: string): ShellWord[] {
  const text = code.slice(0, CODE_LIMIT);
  if (!DESTROYS.test(text)) return [];
  const names = [...text.matchAll(/(["'`])([^"'`\n]{1,512})\1/g)].map(([, , name = ""]) => name);
  return [...new Set(names)].slice(0, NAMES_LIMIT).map((name) => ({ text: name, isPlain: true, isPattern: false }));
}
