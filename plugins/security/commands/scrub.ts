import { type CommandContext, formatCount, printable, send, UsageError } from "sessarc/terminal";
import type { Scrubbed, ScrubState, Unscrubbed } from "../scrub/types.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const { undo, yes, originals, "drop-backups": drop } = ctx.flags;
  if ((undo === true || drop === true) && (ctx.args.length > 0 || originals === true || yes === true || undo === drop))
    throw new UsageError("`sessarc scrub --undo` and `sessarc scrub --drop-backups` take nothing else");
  if (undo === true) return putBack(ctx);
  if (drop === true) return dropBackups(ctx);
  const body = { originals: originals === true, ...(ctx.args.length > 0 && { secrets: ctx.args }) };
  const path = yes === true ? "/security/scrub" : "/security/scrub/plan";
  const done = await send<Scrubbed>(ctx, "POST", path, body, ctx.signal);
  if (ctx.json) ctx.answer(done);
  else print(ctx, done);
  return done.written && done.left.length > 0 ? 1 : 0;
}

function print(ctx: CommandContext, done: Scrubbed): void {
  if (done.secrets.length === 0 && done.left.length === 0) {
    ctx.out("No secret is marked as revoked. Mark them in the dashboard: Tools, Secrets.");
    return;
  }
  for (const { id, masked, ruleId } of done.secrets) ctx.out(`${id}  ${printable(masked)}  ${printable(ruleId)}`);
  const word = done.written ? "removed from" : "found in";
  for (const { id, transcript, log, catalogue } of done.sessions)
    ctx.out(
      `${word} ${printable(id)}: ${countOf(transcript, "place")} of the transcript, ${formatCount(log)} of the stored log, ${formatCount(catalogue)} of the catalogue`,
    );
  const { catalogue, net } = done.elsewhere;
  if (catalogue > 0) ctx.out(`${word} ${countOf(catalogue, "other place")} of the catalogue`);
  if (net > 0) ctx.out(`${word} ${countOf(net, "place")} of files stored before calls`);
  for (const { path, count, backup } of done.originals)
    ctx.out(
      `${word} ${printable(path)}: ${countOf(count, "place")}${backup === null ? "" : `; its copy with the secret: ${printable(backup)}`}`,
    );
  const nothing = done.sessions.length === 0 && done.originals.length === 0 && catalogue + net === 0;
  if (nothing) ctx.out("Nothing that is stored holds them.");
  for (const { what, reason } of done.left) ctx.err(`left: ${printable(what)}: ${printable(reason)}`);
  for (const path of done.named) ctx.err(`holds one and stays: ${printable(path)}`);
  ctx.err("Not searched: backups elsewhere, exports, copies of shares, repositories.");
  if (!done.written && !nothing) ctx.err("Nothing was changed. --yes removes them; what is stored cannot be put back.");
  if (done.originals.some(({ backup }) => backup !== null))
    ctx.err("`sessarc scrub --undo` puts these logs back until their assistants write to them.");
}

async function putBack(ctx: CommandContext): Promise<number> {
  const done = await send<Unscrubbed>(ctx, "POST", "/security/scrub/undo", undefined, ctx.signal);
  if (ctx.json) ctx.answer(done);
  else {
    if (done.restored.length + done.left.length === 0) ctx.err("No changed log has a copy to put back.");
    else ctx.out(`${countOf(done.restored.length, "log")} put back. The archive stays without the secrets.`);
    for (const { what, reason } of done.left) ctx.err(`left: ${printable(what)}: ${printable(reason)}`);
  }
  return done.left.length > 0 ? 1 : 0;
}

async function dropBackups(ctx: CommandContext): Promise<number> {
  const { backups } = await ctx.get<ScrubState>("/security/scrub", {}, ctx.signal);
  const done = await send<{ removed: number }>(ctx, "DELETE", "/security/scrub/backups", undefined, ctx.signal);
  if (ctx.json) ctx.answer({ ...done, backups });
  else if (done.removed === 0) ctx.err("No copy of a changed log is stored.");
  else ctx.out(`${countOf(done.removed, "copy", "copies")} removed. These logs cannot be put back any more.`);
  return 0;
}

const countOf = (n: number, one: string, many = `${one}s`) => `${formatCount(n)} ${n === 1 ? one : many}`;
