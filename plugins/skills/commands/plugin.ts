/** An Agent Plugin of someone else: what it has is shown, and taken with `--yes`. */
import { type CommandContext, printable, send } from "sessarc/terminal";

interface Problem {
  what: string;
  reason: string;
}
interface Shown {
  folder: string;
  name: string;
  version: string | null;
  skills: { name: string; description: string; files: number; warnings: string[] }[];
  servers: { name: string; command: string | null; args: string[]; url: string | null }[];
  problems: Problem[];
  digest: string;
}

export async function importPlugin(ctx: CommandContext, path: string): Promise<number> {
  const shown = await ctx.get<Shown>("/agent-plugin/foreign", { path });
  if (ctx.flags.yes !== true || ctx.flags["dry-run"] === true) {
    if (ctx.json) ctx.out(JSON.stringify(shown));
    else {
      ctx.out(`${printable(shown.name)} ${printable(shown.version ?? "")}`.trimEnd());
      for (const { name, description, files } of shown.skills)
        ctx.out(`skill   ${printable(name)}  ${files} files  ${printable(description)}`);
      for (const { name, command, args, url } of shown.servers)
        ctx.out(`server  ${printable(name)}  ${printable(url ?? [command ?? "", ...args].join(" "))}`);
      tellProblems(ctx, shown.problems);
      ctx.err("Nothing was taken. With --yes the skills go into the store and the servers into the hub.");
    }
    return 0;
  }
  const { skills, servers, problems } = await send<{ skills: string[]; servers: string[]; problems: Problem[] }>(
    ctx,
    "POST",
    "/agent-plugin/foreign",
    { path, digest: shown.digest },
  );
  if (ctx.json) ctx.out(JSON.stringify({ skills, servers, problems }));
  else {
    for (const id of skills) ctx.out(`Imported skill ${printable(id)}`);
    for (const id of servers) ctx.out(`Added server ${printable(id)}`);
    tellProblems(ctx, problems);
  }
  return skills.length + servers.length > 0 ? 0 : 1;
}

function tellProblems(ctx: CommandContext, problems: readonly Problem[]): void {
  for (const { what, reason } of problems) ctx.err(`Not taken: ${printable(what)}: ${printable(reason)}`);
}
