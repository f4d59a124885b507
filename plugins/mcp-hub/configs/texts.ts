/** Reading, editing and showing files' texts: small ones here, large ones in a worker. */
import { type JsonRecord, type Pool, type PoolTask, SessarcError } from "sessarc";
import type { SettingsEdit, SettingsSyntax } from "sessarc/files";
import type { McpServerEntry } from "./contract.ts";
import type { ConfigJob, ConfigResult } from "./job.ts";

const JOB: PoolTask<[ConfigJob], ConfigResult> = {
  specifier: "sessarc/plugins/mcp-hub/config-job",
  export: "runConfigJob",
  inline: async (job) => (await import("./job.ts")).runConfigJob(job),
};

/** Characters that are parsed in less than 10 ms. */
const SMALL = 100_000;

/** Servers are members of objects: their edits never concern a list. */
export type ConfigEdit = { kind: "remove"; path: readonly string[] } | Extract<SettingsEdit, { kind: "set" }>;

export interface Texts {
  /** The part of a file that can name servers. All three throw SETTINGS_UNUSABLE, which quotes nothing of the file. */
  parse(text: string, syntax: SettingsSyntax, path: string): Promise<JsonRecord>;
  edit(text: string, syntax: SettingsSyntax, edits: readonly ConfigEdit[], path: string): Promise<string>;
  /** The lines that change, without secrets; `safe` are the hub's own texts. */
  show(change: ShownChange): Promise<string>;
}
export interface ShownChange {
  before: string;
  after: string;
  syntax: SettingsSyntax;
  servers: readonly McpServerEntry[];
  safe: readonly string[];
}

export function createTexts(pool: Pool): Texts {
  async function run(job: ConfigJob, path: string): Promise<ConfigResult> {
    const result = await (job.text.length > SMALL ? pool.run(JOB, job) : JOB.inline(job));
    if (result.refused !== undefined) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: result.refused });
    return result;
  }
  return {
    parse: async (text, syntax, path) => (await run({ do: "parse", text, syntax }, path)).config ?? {},
    edit: async (text, syntax, edits, path) => (await run({ do: "edit", text, syntax, edits }, path)).text ?? text,
    async show({ before, after, syntax, servers, safe }) {
      return (await run({ do: "show", text: before, after, syntax, servers, safe }, "")).text ?? "";
    },
  };
}
