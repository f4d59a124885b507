/** What a step is called. */
import type { ToolAction } from "sessarc/adapter";
import { quoted } from "sessarc/files";
import type { PlannedStep, StepKind } from "./types.ts";

const KINDS: Readonly<Record<ToolAction["do"], StepKind>> = {
  write: "write",
  edit: "edit",
  insert: "edit",
  patch: "edit",
  delete: "delete",
  move: "move",
  command: "command",
  unknown: "edit",
};
const VERBS: Readonly<Record<StepKind, string>> = {
  write: "Write",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  command: "Run",
};

export function describe(
  actions: readonly ToolAction[],
  paths: readonly string[],
): Pick<PlannedStep, "kind" | "command" | "words" | "summary"> {
  const main = actions[0] ?? { do: "unknown", reason: "" };
  const kind = main.do === "patch" ? kindOfPatch(main.text) : KINDS[main.do];
  if (main.do !== "command") {
    const more =
      paths.length > 2
        ? ` and ${paths.length - 1} more`
        : paths.length === 2 && kind !== "move"
          ? ` and ${paths[1]}`
          : "";
    const what = kind === "move" ? `${paths[0]} to ${paths[1]}` : `${paths[0] ?? "a file"}${more}`;
    return { kind, command: null, words: null, summary: `${VERBS[kind]} ${what}` };
  }
  const words = typeof main.command === "string" ? null : main.command;
  const command = words ? words.map(quote).join(" ") : String(main.command);
  const line = command.trim().split("\n", 1)[0] ?? "";
  return { kind, command, words, summary: `Run ${line.length > 120 ? `${line.slice(0, 119)}…` : line}` };
}

function kindOfPatch(text: string): StepKind {
  const heads = [...text.matchAll(/^\*\*\* (Add|Update|Delete) File: /gm)].map((match) => match[1]);
  if (heads.length > 0 && heads.every((head) => head === "Add")) return "write";
  if (heads.length > 0 && heads.every((head) => head === "Delete")) return "delete";
  return "edit";
}

/** As a POSIX shell would need it: the confirmed text says exactly where each word ends. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word);
}
