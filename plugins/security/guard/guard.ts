/** The tool-call guard checks a call before it runs. Service "guard". */
import { type Json, type Kernel, SessarcError } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import type { Scanner } from "../secrets/engine.ts";
import { hideIn } from "../secrets/hide.ts";
import type { RuleSet } from "../secrets/rule-set.ts";
import { decide, type ToolDecision } from "./decide.ts";
import { createInstaller, type Installer } from "./install/install.ts";
import { readPayload, type ToolCall } from "./payload.ts";
import { createRecords, type Interception } from "./records.ts";
import { createCallScans } from "./scan.ts";
import type { ShellCommand } from "./taint/commands.ts";
import { findFirstPath, readPaths } from "./taint/paths.ts";

export type { ToolDecision } from "./decide.ts";
export type { GuardStatus } from "./install/install.ts";
export type { ToolCall } from "./payload.ts";
export type { Interception } from "./records.ts";

export interface Guard extends Installer {
  /** Decides about the payload of a hook. Throws INVALID_INPUT if it has no call. About a millisecond for 16 KB. */
  check(
    body: Record<string, Json>,
    client?: string,
    hook?: string,
  ): Promise<{ call: ToolCall; decision: ToolDecision }>;
  /**
   * The simple commands of a shell line and of the lines that its shells run, with their words and where their output goes. `variables`: values
   * that are known. Undefined for a line that is too long or has a syntax error.
   */
  commands(line: string, variables?: Readonly<Record<string, string>>): Promise<ShellCommand[] | undefined>;
  interceptions(limit: number): Promise<Interception[]>;
  close(): Promise<void>;
}

export type { ShellCommand, ShellWord } from "./taint/commands.ts";

export function createGuard(kernel: Kernel, rules: RuleSet): Guard {
  const records = createRecords(kernel);
  const installer = createInstaller(kernel, rules);
  const beginScan = createCallScans(kernel);

  function findRole({ client, tool_name }: ToolCall): ToolRole | undefined {
    const { adapters } = kernel.registry;
    const own = adapters.get(client)?.tools?.[tool_name];
    if (own) return own;
    for (const { tools } of adapters.values()) if (tools?.[tool_name]) return tools[tool_name];
    return undefined;
  }

  function readCall(body: Record<string, Json>, client: string | undefined): ToolCall | undefined {
    const adapters = [...kernel.registry.adapters.values()];
    const call = readPayload(
      body,
      client,
      (payload) => adapters.find(({ guard }) => guard?.recognises?.(payload) === true)?.name,
    );
    return call && adapters.find(({ name }) => name === call.client)?.guard?.namesFound
      ? { ...call, namesFound: true }
      : call;
  }

  return {
    ...installer,
    async commands(line, variables) {
      const { readCommands } = await import("./taint/commands.ts");
      return readCommands(line, variables);
    },
    async check(body, client, hook) {
      const started = performance.now();
      const call = readCall(body, client);
      if (!call) throw new SessarcError("INVALID_INPUT", { reason: "The body contains no tool call" });
      const scanner = await rules.scanner();
      const { mode, net } = await installer.choicesOf(call.client);
      const paths = readPaths(call, findRole(call));
      const decision = await decide(kernel, installer, { call, paths, scan: beginScan(scanner), mode });
      await kernel.hooks.callHook("tool:check", { call, decision, role: paths.role, net });
      const at = new Date();
      const fired = await installer.fired(call.client, hook, at);
      if (!records.isNew(call, started)) return { call, decision };
      const path = findFirstPath(paths, kernel.env.home);
      const shown = hideFields(scanner, call, path);
      const ms = Math.round((performance.now() - started) * 100) / 100;
      records.add({ ...toRecord(decision), ...shown, at: at.toISOString(), client: call.client, ms }, fired);
      const { decision: said } = decision;
      await kernel.notify("tool:checked", { client: call.client, tool_name: call.tool_name, decision: said });
      return { call, decision };
    },
    interceptions: (limit) => records.recent(limit),
    async close() {
      await records.flush();
    },
  };
}

const toRecord = ({ decision, mode, findings }: ToolDecision) => ({
  decision,
  mode,
  rules: [...new Set(findings.map((finding) => finding.rule))],
  masked: [...new Set(findings.map((finding) => finding.masked))].slice(0, 10),
});

/** What a record says of the call, masked. */
function hideFields(scanner: Scanner, { client, tool_name, sessionId }: ToolCall, path: string | undefined) {
  const hide = (text: string, max: number) => hideIn(scanner, text, { budgetMs: 10 }).slice(0, max);
  return {
    tool_name: hide(tool_name.slice(0, 400), 200),
    path: path === undefined ? null : hide(path.slice(0, 4096), 1000),
    sessionId: sessionId === null ? null : hide(`${client}:${sessionId}`.slice(0, 400), 300),
  };
}
