/** What sessarc knows of OpenCode and its family beside their logs, as data: its tools' names, and where skills live. */

import { join } from "node:path";
import { toRecord, toText } from "sessarc";
import type { Adapter, ToolRole } from "sessarc/adapter";
import { configFolder, type Member } from "./family.ts";

export const tools: Readonly<Record<string, ToolRole>> = {
  read: "read",
  edit: "edit",
  multiedit: "edit",
  write: "write",
  patch: "patch",
  apply_patch: "patch",
  bash: "shell",
  shell: "shell",
  grep: "search",
  glob: "search",
  list: "search",
  codesearch: "search",
  lsp: "search",
  webfetch: "fetch",
  websearch: "fetch",
  todowrite: "todo",
  todoread: "todo",
  task: "agent",
  subagent: "agent",
};

/** Paths of scope `project` are relative to the project. */
export const skills = (member: Member): NonNullable<Adapter["skills"]> => ({
  dirs: (env) => [
    { path: join(`.${member.folder}`, "skills"), scope: "project" },
    { path: join(".agents", "skills"), scope: "project" },
    { path: join(configFolder(member, env), "skills"), scope: "user" },
  ],
  used: ({ kind, tool_name, tool_input }) =>
    kind === "tool_use" && tool_name === "skill" ? toText(toRecord(tool_input).name) : undefined,
});
