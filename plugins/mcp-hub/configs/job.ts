/** What reads and edits whole files, off the main thread where they are large. Everything that crosses is plain data. */
import { isRecord, type JsonRecord } from "sessarc";
import { editSettings, parseSettings, type SettingsEdit, SettingsProblem, type SettingsSyntax } from "sessarc/files";
import type { McpServerEntry } from "./contract.ts";
import { createHider, showEdit } from "./shown.ts";

export type ConfigJob =
  | { do: "parse"; text: string; syntax: SettingsSyntax }
  | { do: "edit"; text: string; syntax: SettingsSyntax; edits: readonly SettingsEdit[] }
  | {
      do: "show";
      text: string;
      after: string;
      syntax: SettingsSyntax;
      servers: readonly McpServerEntry[];
      safe: readonly string[];
    };

export interface ConfigResult {
  config?: JsonRecord;
  text?: string;
  /** Why it cannot be done. */
  refused?: string;
}

export async function runConfigJob(job: ConfigJob): Promise<ConfigResult> {
  try {
    if (job.do === "parse") return { config: withServers(await parseSettings(job.text, job.syntax)) };
    if (job.do === "edit") return { text: await editSettings(job.text, job.syntax, job.edits) };
    const { text: before, after, syntax, servers, safe } = job;
    return { text: await showEdit({ before, after, syntax, hider: createHider(servers, safe) }) };
  } catch (error) {
    if (error instanceof SettingsProblem) return { refused: error.message };
    throw error;
  }
}

/** The part of a file that is about servers and trust, and objects on the way to it: some of them are megabytes of other things. */
function withServers(config: JsonRecord): JsonRecord {
  const kept = Object.entries(config).flatMap(([key, value]) => {
    if (/mcp|servers|trust/i.test(key)) return [[key, value] as const];
    const inner = isRecord(value) ? withServers(value) : {};
    return Object.keys(inner).length > 0 ? [[key, inner] as const] : [];
  });
  return Object.fromEntries(kept);
}
