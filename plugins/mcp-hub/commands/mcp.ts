import { type CommandContext, createStyle, formatTable, printable, send, UsageError } from "sessarc/terminal";
import type { Credential } from "../entry.ts";
import type { LogEntry } from "../hub/log.ts";
import type { WireHeld, WireService } from "../routes/wire.ts";
import { holdsSecret, isSecret } from "../vault/mask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action, ...rest] = ctx.args;
  switch (action) {
    case undefined:
      return (await import("./bridge.ts")).bridge(ctx);
    case "list":
      return list(ctx);
    case "add":
      return add(ctx, rest);
    case "search":
      return (await import("./search.ts")).search(ctx, rest);
    case "remove":
      return remove(ctx, rest);
    case "test":
      return test(ctx, rest);
    case "skills":
      return skills(ctx);
    case "log":
      return log(ctx);
    case "sign-in":
      return signIn(ctx, rest);
    case "scan":
      return (await import("./configs.ts")).scan(ctx);
    case "takeover":
      return (await import("./configs.ts")).takeover(ctx, rest);
    case "restore":
      return (await import("./configs.ts")).restore(ctx, rest);
    default:
      throw new UsageError(`\`sessarc mcp\` takes no ${JSON.stringify(action)}`);
  }
}

async function list(ctx: CommandContext): Promise<number> {
  const { services } = await ctx.get<{ services: WireService[] }>("/mcp/services");
  if (ctx.json) ctx.out(JSON.stringify({ services }));
  else {
    const style = createStyle(ctx.colour);
    ctx.out(
      formatTable(
        [
          { title: "service", value: ({ id }) => printable(id) },
          { title: "kind", value: ({ transport }) => transport },
          { title: "state", value: ({ state }) => state },
          { title: "tools", value: ({ tools }) => (tools === null ? "" : String(tools)), align: "right" },
          {
            title: "where",
            value: ({ url, command, args }) => printable(url ?? [command ?? "", ...args].join(" ")),
            shrink: true,
          },
        ],
        services,
        { head: style.dim, width: ctx.columns },
      ),
    );
    for (const { id, lastError, warnings, problems, held } of services)
      for (const line of [
        ...(lastError ? [lastError] : []),
        ...warnings,
        ...problems.map(problemLine),
        ...heldLines(held),
      ])
        ctx.out(`${style.yellow(printable(id))}: ${printable(line)}`);
  }
  return services.length > 0 ? 0 : 3;
}

interface WireSkills {
  skills: { uri: string; description: string; files: number | null }[];
  leftOut: { service: string; skill: string; reason: string }[];
}

/** Skills as clients of the skills extension see them. */
async function skills(ctx: CommandContext): Promise<number> {
  const found = await ctx.get<WireSkills>("/mcp/skills");
  if (ctx.json) ctx.out(JSON.stringify(found));
  else {
    const style = createStyle(ctx.colour);
    if (found.skills.length === 0)
      ctx.err("No skill is served. `sessarc skills scan` shows what your assistants have.");
    else
      ctx.out(
        formatTable(
          [
            { title: "skill", value: ({ uri }) => printable(uri) },
            { title: "files", value: ({ files }) => (files === null ? "" : String(files)), align: "right" },
            { title: "what for", value: ({ description }) => printable(description), shrink: true },
          ],
          found.skills,
          { head: style.dim, width: ctx.columns },
        ),
      );
    for (const { service, skill, reason } of found.leftOut)
      ctx.out(`${style.yellow(printable(service))}: skill ${printable(skill)} is not served: ${printable(reason)}`);
  }
  return found.skills.length > 0 ? 0 : 3;
}

const KIND_NAMES = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resource template",
  skills: "skill",
} as const;

const problemLine = ({ kind, name, leftOut, reason }: WireService["problems"][number]) =>
  `${KIND_NAMES[kind]} ${name ?? "without a name"} is ${leftOut ? "left out" : "repaired"}: ${reason}`;

/** Each held tool with what differs from the definition that was accepted. */
const heldLines = (held: readonly Pick<WireHeld, "tool" | "changes">[]) =>
  held.flatMap(({ tool, changes }) => [
    `tool ${tool} is held: its definition changed since it was accepted. Accept it in the dashboard`,
    ...changes.flatMap(({ field, before, after }) => [
      ...(before === null ? [] : [`  - ${field}: ${before}`]),
      ...(after === null ? [] : [`  + ${field}: ${after}`]),
    ]),
  ]);

async function add(ctx: CommandContext, [id, command, ...args]: readonly string[]): Promise<number> {
  const { url, transport, from } = ctx.flags;
  if (typeof from === "string") {
    if (command !== undefined || url !== undefined)
      throw new UsageError("`sessarc mcp add --from <name>` takes the command or the address from the list");
    const listed = await (await import("./search.ts")).serviceFrom(ctx, from, id);
    return register(ctx, { ...listed, ...toCredential(ctx) });
  }
  if (id === undefined || (typeof url === "string") === (command !== undefined))
    throw new UsageError("`sessarc mcp add <id>` takes --url <address>, or -- and a command");
  if (typeof url === "string" && holdsSecret(url))
    throw new UsageError(
      "The address holds a secret, and every user of this machine can read command lines. Use --header or --bearer with a variable, or refer to a variable in the address",
    );
  const body = {
    id,
    ...(typeof transport === "string" ? { transport } : {}),
    ...(typeof url === "string" ? { url } : { command, args }),
    ...pairs("env", ctx),
    ...pairs("headers", ctx),
    ...toCredential(ctx),
  };
  return register(ctx, body);
}

async function register(ctx: CommandContext, body: object): Promise<number> {
  const service = await send<WireService & { created: boolean }>(ctx, "POST", "/mcp/services", body);
  if (ctx.json) ctx.out(JSON.stringify(service));
  else
    ctx.out(
      `${service.created ? "Added" : "Changed"} ${printable(service.id)}. Try it: sessarc mcp test ${printable(service.id)}`,
    );
  for (const warning of service.warnings) ctx.err(printable(warning));
  return 0;
}

/** `NAME=value`, or a value from this environment. Secrets are refused: every user of the machine can read command lines. */
function pairs(field: "env" | "headers", ctx: CommandContext): Record<string, Record<string, string>> {
  const option = field === "env" ? "env" : "header";
  const flag = ctx.flags[option];
  if (!Array.isArray(flag)) return {};
  const values = flag.map((pair) => {
    const [, name, value] = /^([^=]+)(?:=(.*))?$/s.exec(String(pair)) ?? [];
    if (name === undefined) throw new UsageError(`--${option} takes NAME=value`);
    const reference = value === undefined ? name : /^\$(\w+)$/.exec(value)?.[1];
    if (reference !== undefined) return [name, variable(ctx, reference)] as const;
    if (isSecret(name, value ?? ""))
      throw new UsageError(
        `The value of --${option} ${name} is a secret, and every user of this machine can read command lines. Set it as a variable and write --${option} '${name}=$VARIABLE'`,
      );
    return [name, value ?? ""] as const;
  });
  return { [field]: Object.fromEntries(values) };
}

/** `--bearer NAME`, or `--oauth <client id>` with `--oauth-secret NAME`: the names of variables that hold the secrets. */
function toCredential(ctx: CommandContext): { credential?: Credential } {
  const { bearer, oauth, "oauth-secret": secret } = ctx.flags;
  if (typeof bearer === "string") return { credential: { kind: "bearer", value: variable(ctx, bearer) } };
  if (typeof oauth !== "string") return {};
  const value = typeof secret === "string" ? variable(ctx, secret) : "";
  return { credential: { kind: "oauth", name: oauth, value } };
}

function variable({ env }: CommandContext, name: string): string {
  const value = env.env[name];
  if (value === undefined) throw new UsageError(`The variable ${name} is not set in this environment`);
  return value;
}

async function remove(ctx: CommandContext, [id]: readonly string[]): Promise<number> {
  if (id === undefined) throw new UsageError("`sessarc mcp remove <id>` needs the id of a service");
  const answer = await send(ctx, "DELETE", `/mcp/services/${encodeURIComponent(id)}`);
  ctx.out(ctx.json ? JSON.stringify(answer) : `Removed ${printable(id)}`);
  return 0;
}

async function test(ctx: CommandContext, [id]: readonly string[]): Promise<number> {
  if (id === undefined) throw new UsageError("`sessarc mcp test <id>` needs the id of a service");
  const started = performance.now();
  const answer = await ctx.get<TestAnswer>("/mcp/tools", { service: id }, ctx.signal);
  const ms = Math.round(performance.now() - started);
  const error = answer.errors[id];
  if (ctx.json) ctx.out(JSON.stringify({ ...answer, ms }));
  else {
    if (error) ctx.err(printable(error));
    else ctx.out(`${printable(id)} answers: ${answer.tools.length} tools in ${ms} ms`);
    const held = answer.tools.flatMap(({ tool, change }) => (change ? [{ tool, changes: change.changes }] : []));
    for (const line of [...answer.problems.map(problemLine), ...heldLines(held)]) ctx.out(printable(line));
  }
  return error ? 1 : 0;
}

interface TestAnswer {
  tools: { tool: string; change: Pick<WireHeld, "changes"> | null }[];
  errors: Record<string, string>;
  problems: WireService["problems"];
}

async function signIn(ctx: CommandContext, [id]: readonly string[]): Promise<number> {
  if (id === undefined) throw new UsageError("`sessarc mcp sign-in <id>` needs the id of a service");
  const answer = await send<{ url: string }>(ctx, "POST", `/mcp/services/${encodeURIComponent(id)}/sign-in`);
  ctx.out(ctx.json ? JSON.stringify(answer) : `Open this address in a browser to sign in:\n${printable(answer.url)}`);
  return 0;
}

async function log(ctx: CommandContext): Promise<number> {
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const query = { service: text(ctx.flags.service), limit: text(ctx.flags.limit) ?? "50" };
  const { entries } = await ctx.get<{ entries: LogEntry[] }>("/mcp/log", query);
  if (ctx.json) ctx.out(JSON.stringify({ entries }));
  else if (entries.length === 0)
    ctx.err("No message is logged: no assistant asked a server through the hub since the service started.");
  else
    for (const { at, direction, service, method, ms, status } of entries)
      ctx.out(
        [at, direction === "in" ? "→" : "←", service ?? "", method, status, ms === null ? "" : `${ms} ms`]
          .map((part) => printable(part))
          .join("  "),
      );
  return entries.length > 0 ? 0 : 3;
}
