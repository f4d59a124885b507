/** `sessarc rules`. */
import { type CommandContext, createStyle, formatCount, printable, send, UsageError } from "sessarc/terminal";
import { isConfirmed } from "./confirm.ts";
import type { Removed } from "./instructions/editor.ts";
import type { Proposal } from "./proposal.ts";
import { prove, toVerdictText } from "./prove-command.ts";
import type { AcceptedLine, AcceptedRule, DismissedRule, RuleOverview } from "./service.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const flag = (name: string) => (typeof ctx.flags[name] === "string" ? (ctx.flags[name] as string) : undefined);
  const deeds = ["prove", "accept", "dismiss", "undo"].filter((name) => flag(name) !== undefined);
  if (deeds.length > 1) throw new UsageError("--prove, --accept, --dismiss and --undo exclude each other");
  if ((flag("with") === undefined) !== (flag("prove") === undefined))
    throw new UsageError("--prove needs --with, the command that runs your assistant, and --with needs --prove");
  const [deed] = deeds;
  if (ctx.flags["dry-run"] === true && deed !== "accept")
    throw new UsageError("--dry-run shows what --accept would write");
  const overview = await ctx.get<RuleOverview>("/rules/proposals", { project: flag("project") }, ctx.signal);
  if (deed === undefined) return list(ctx, overview);
  const wanted = flag(deed) ?? "";
  if (deed === "undo")
    return undo(ctx, pick([...overview.accepted, ...overview.dismissed], wanted, "accepted or dismissed rule"));
  const proposal = pick(overview.proposals, wanted, "proposal");
  if (deed === "dismiss") return dismiss(ctx, proposal);
  return deed === "accept" ? accept(ctx, proposal) : prove(ctx, proposal, flag("with") ?? "");
}

/** By its number in the list, or its id. */
function pick<T extends { id: string }>(rules: readonly T[], wanted: string, what: string): T {
  const found =
    rules.find(({ id }) => id === wanted) ?? (/^\d{1,4}$/.test(wanted) ? rules[Number(wanted) - 1] : undefined);
  if (!found) throw new UsageError(`There is no ${what} ${JSON.stringify(wanted)}; \`sessarc rules\` lists them`);
  return found;
}

const SHOWN = 3;
type Style = ReturnType<typeof createStyle>;

function list(ctx: CommandContext, overview: RuleOverview): number {
  const { proposals, accepted, dismissed, read } = overview;
  if (ctx.json) ctx.answer(overview);
  else {
    const style = createStyle(ctx.colour);
    for (const [i, proposal] of proposals.entries()) ctx.out(toText(proposal, i + 1, style));
    if (accepted.length > 0) ctx.out(style.bold("Accepted"));
    for (const [i, rule] of accepted.entries()) ctx.out(toEffectText(rule, i + 1, style));
    if (dismissed.length > 0) ctx.out(style.bold("Dismissed"));
    for (const [i, rule] of dismissed.entries()) ctx.out(toDismissedText(rule, accepted.length + i + 1, style));
    if (read.sessions === 0) ctx.err("No session to read. `sessarc import` imports what your assistants logged.");
    else if (proposals.length === 0)
      ctx.err(`No mistake recurs in the ${formatCount(read.sessions)} sessions that were read.`);
    else ctx.err("`sessarc rules --accept N` writes a line into the project's instructions; nothing was written.");
    if (read.isCut) ctx.err("Of some projects only the newest 300 sessions were read.");
  }
  return proposals.length + accepted.length + dismissed.length > 0 ? 0 : 3;
}

function toText(proposal: Proposal, number: number, style: Style): string {
  const { id, project, line, tokens, times, sessions, wasted, evidence, proof } = proposal;
  const cost = `≈ ${formatCount(tokens)} tokens a session`;
  const lost = wasted > 0 ? `, ≈ ${formatCount(wasted)} tokens of failed calls` : "";
  return [
    style.bold(`${number}  ${printable(line)}`),
    `   ${printable(project.name)} · ${id} · ${times} times in ${sessions} sessions${lost} · costs ${cost}`,
    ...(proof ? [`   ${toVerdictText(proof)}`] : []),
    ...evidence
      .slice(0, SHOWN)
      .map(({ session, seq, at, text }) =>
        style.dim(`   ${printable(`${at?.slice(0, 10) ?? ""} ${session}#${seq}  ${text}`)}`),
      ),
    "",
  ].join("\n");
}

function toEffectText({ id, project, line, path, at, effect }: AcceptedRule, number: number, style: Style) {
  const { before, after, saved, spent } = effect;
  const count = ({ times, sessions }: { times: number; sessions: number }) => `${times} times in ${sessions} sessions`;
  return [
    `${number}  ${printable(line)}`,
    style.dim(`   ${printable(`${project.name} · ${id} · ${at.slice(0, 10)} · ${path}`)}`),
    `   before ${count(before)}, since ${count(after)}; saved ≈ ${formatCount(saved)} tokens of failed calls, cost ≈ ${formatCount(spent)}`,
  ].join("\n");
}

const toDismissedText = ({ id, project, line, at }: DismissedRule, number: number, style: Style) =>
  style.dim(`${number}  ${printable(line)}\n   ${printable(`${project.name} · ${id} · ${at.slice(0, 10)}`)}`);

async function accept(ctx: CommandContext, { id, project, line, path }: Proposal): Promise<number> {
  const body = { id, project: project.id };
  const planned = await send<AcceptedLine>(ctx, "POST", "/rules/accept", { ...body, dryRun: true }, ctx.signal);
  const isDry = ctx.flags["dry-run"] === true;
  if (isDry && ctx.json) ctx.answer(planned);
  else if (isDry || !ctx.json) (isDry ? ctx.out : ctx.err)(`${printable(planned.path)}\n${toDifference(planned)}`);
  if (isDry) return 0;
  if (!(await isConfirmed(ctx, `Write this line into ${printable(path ?? planned.path)}?`))) return 1;
  const written = await send<AcceptedLine>(ctx, "POST", "/rules/accept", body, ctx.signal);
  if (ctx.json) ctx.answer(written);
  else {
    ctx.out(`Written into ${printable(written.path)}: ${printable(line)}`);
    if (written.backupPath !== null) ctx.err(`Backup: ${printable(written.backupPath)}`);
  }
  return 0;
}

/** The lines that are added. */
function toDifference({ before, after }: Pick<AcceptedLine, "before" | "after">): string {
  const rows = after.split(/\r?\n/);
  const old = before.split(/\r?\n/);
  const start = rows.findIndex((row, i) => row !== old[i]);
  const added = rows.slice(start, rows.length - (old.length - start));
  return added
    .filter((row) => row !== "")
    .map((row) => `+ ${printable(row)}`)
    .join("\n");
}

async function dismiss(ctx: CommandContext, { id, project }: Proposal): Promise<number> {
  const answer = await send<{ id: string; line: string }>(
    ctx,
    "POST",
    "/rules/dismiss",
    { id, project: project.id },
    ctx.signal,
  );
  if (ctx.json) ctx.answer(answer);
  else ctx.out(`Not proposed any more: ${printable(answer.line)}\n\`sessarc rules --undo ${id}\` proposes it again.`);
  return 0;
}

async function undo(ctx: CommandContext, rule: AcceptedRule | DismissedRule): Promise<number> {
  const { id, line } = rule;
  if (!("path" in rule)) {
    const answer = await send(ctx, "DELETE", `/rules/dismissed/${encodeURIComponent(id)}`, undefined, ctx.signal);
    if (ctx.json) ctx.answer(answer);
    else ctx.out(`Proposed again: ${printable(line)}`);
    return 0;
  }
  const answer = await send<Removed>(ctx, "POST", "/rules/undo", { id }, ctx.signal);
  if (ctx.json) ctx.answer(answer);
  else if (!answer.removed) ctx.err(`The line is not in ${printable(answer.path)} any more: ${printable(line)}`);
  else ctx.out(`Removed from ${printable(answer.path)}${answer.restored ? ", which is as it was before" : ""}`);
  return 0;
}
