import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { attend, isFolder } from "sessarc/files";
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { RescuePlan } from "../restore/plan.ts";
import type { Rescued } from "../restore/rescue.ts";

interface Found {
  session: { id: string; tool: string; cwd: string | null; parentId: string | null; source: { missing: boolean } };
  resume: { command: string; words: readonly string[]; cwd: string | null } | null;
}

export async function run(ctx: CommandContext): Promise<number> {
  const [name, ...more] = ctx.args;
  if (name === undefined || more.length > 0) throw new UsageError("Name one session: `sessarc resume <session|last>`");
  const folder = typeof ctx.flags.in === "string" ? resolve(ctx.cwd, ctx.flags.in) : undefined;
  const { session } = await ctx.get<Found>("/sessions/find", { name }, ctx.signal);
  let found = await readDetail(ctx, session.id);
  if (found.session.parentId !== null) return refuse(ctx, "A sub-agent is resumed with the session that started it.");
  if (folder !== undefined || found.session.source.missing) {
    const id = await putBack(ctx, session.id, folder);
    if (id === undefined) return 1;
    found = await readDetail(ctx, id);
  }
  const { resume } = found;
  if (!resume)
    return refuse(
      ctx,
      `${found.session.tool} has no command that resumes this session. \`sessarc handoff ${printable(name)}\` writes a brief of it.`,
    );
  const cwd = folder ?? resume.cwd ?? ctx.env.home;
  if (!(await isFolder(cwd)))
    return refuse(
      ctx,
      `Its folder ${printable(cwd)} is gone. \`sessarc resume ${printable(name)} --in <folder>\` resumes a copy in another one.`,
    );
  if (ctx.json || ctx.flags.print === true) {
    if (ctx.json) ctx.answer({ session: found.session.id, ...resume, cwd });
    else ctx.out(resume.command);
    return 0;
  }
  const [file = "", ...args] = resume.words;
  return attend(file, args, { cwd, env: ctx.env.env });
}

/** Puts the log back, or a copy of it for another folder: the id to resume. Undefined: it cannot, or the user does not want it. */
async function putBack(ctx: CommandContext, id: string, folder: string | undefined): Promise<string | undefined> {
  const body = { sessions: [id], ...(folder !== undefined && { folder }) };
  const { plans } = await send<{ plans: RescuePlan[] }>(ctx, "POST", "/rescue/plan", body, ctx.signal);
  const [plan] = plans;
  if (!plan || plan.reason !== null) {
    refuse(ctx, `It cannot be put back: ${plan?.reason ?? "unknown"}.`);
    return undefined;
  }
  const todo = plan.steps.filter((step) => step.kind === "move" || !step.there);
  for (const step of todo) ctx.err(`writes  ${printable(step.kind === "run" ? step.command : step.path)}`);
  if (todo.length > 0 && ctx.flags.yes !== true && !(await isWanted(ctx))) return undefined;
  const { rescued } = await send<{ rescued: Rescued[] }>(ctx, "POST", "/rescue/restore", body, ctx.signal);
  return rescued[0]?.copy ?? id;
}

async function isWanted(ctx: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY || !ctx.tty) {
    ctx.err("Nothing was written. --yes writes it.");
    return false;
  }
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await ask.question("Put it back and resume? [y/N] ", { signal: ctx.signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    ask.close();
  }
}

const readDetail = (ctx: CommandContext, id: string) =>
  ctx.get<Found>(`/sessions/${encodeURIComponent(id)}`, {}, ctx.signal);

function refuse(ctx: CommandContext, text: string): number {
  ctx.err(text);
  return 1;
}
