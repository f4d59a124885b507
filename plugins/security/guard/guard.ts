/** The tool-call guard checks a call before it runs. Service "guard". */
import { type Json, type Kernel, SessarcError } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import type { Scanner } from "../secrets/engine.ts";
import { hideIn } from "../secrets/hide.ts";
import type { RuleSet } from "../secrets/rule-set.ts";
import type { Offer } from "./contract.ts";
import { decide, type ToolDecision } from "./decide.ts";
import { isShared } from "./install/guarded.ts";
import type { HookEvent } from "./install/hook-script.ts";
import { createInstaller, type Installer } from "./install/install.ts";
import { readPayload, readSession, type ToolCall } from "./payload.ts";
import { createRecords, type Interception } from "./records.ts";
import { createCallScans } from "./scan.ts";
import type { ShellCommand } from "./taint/commands.ts";
import { findFirstPath, readPaths } from "./taint/paths.ts";

/** A moment at which something can be offered to the model. */
export interface OfferMoment {
  client: string;
  cwd: string | null;
  sessionId: string | null;
  /** Undefined at a session's start. */
  call: ToolCall | undefined;
  role: ToolRole | undefined;
  /** What the user allowed. */
  offers: readonly Offer[];
  /** What the model will read. Listeners append to it. */
  lines: string[];
}

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
  ): Promise<{ call: ToolCall; decision: ToolDecision; context: string }>;
  /** What is offered to the model at a session's start or with a call; empty where nothing is. Throws INVALID_INPUT for a call without one. */
  context(body: Record<string, Json>, client: string, event: HookEvent): Promise<string>;
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

  const ofCall = (call: ToolCall) => ({
    client: call.client,
    cwd: call.cwd,
    sessionId: call.sessionId,
    call,
    role: findRole(call),
  });

  /** Of an assistant whose hook asks the guard about a call and offers with it. */
  async function collectShared(call: ToolCall): Promise<string> {
    const contract = kernel.registry.adapters.get(call.client)?.guard;
    return contract && contract.format !== "file" && isShared(contract) ? collect(ofCall(call)) : "";
  }

  async function collect(moment: Omit<OfferMoment, "offers" | "lines">): Promise<string> {
    const { offers } = await installer.choicesOf(moment.client);
    if (offers.length === 0) return "";
    const lines: string[] = [];
    // What cannot be offered never keeps a call from running.
    await kernel.notify("context:offer", { ...moment, offers, lines });
    return lines.join("\n");
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
      const context = decision.decision === "allow" && decision.ask === null ? await collectShared(call) : "";
      const at = new Date();
      const fired = await installer.fired(call.client, hook, at);
      if (!records.isNew(call, started)) return { call, decision, context };
      const path = findFirstPath(paths, kernel.env.home);
      const shown = hideFields(scanner, call, path);
      const ms = Math.round((performance.now() - started) * 100) / 100;
      records.add({ ...toRecord(decision), ...shown, at: at.toISOString(), client: call.client, ms }, fired);
      const { decision: said } = decision;
      await kernel.notify("tool:checked", { client: call.client, tool_name: call.tool_name, decision: said });
      return { call, decision, context };
    },
    async context(body, client, event) {
      if (event === "start") return collect({ client, ...readSession(body), call: undefined, role: undefined });
      const call = readCall(body, client);
      if (!call) throw new SessarcError("INVALID_INPUT", { reason: "The body contains no tool call" });
      return collect(ofCall(call));
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
