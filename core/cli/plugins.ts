import type { PluginInfo, PluginProblem } from "../contract/reports.ts";
import { createStyle, printable } from "../terminal/style.ts";
import { formatTable } from "../terminal/table.ts";
import type { CoreContext } from "./context.ts";

export async function run(ctx: CoreContext): Promise<number> {
  const answer = await ctx.get<{ plugins: PluginInfo[]; problems: PluginProblem[] }>("/plugins");
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    // Dozens of rows without a word between those that add something.
    const adapters = answer.plugins.filter(({ builtIn, adapter }) => builtIn && adapter !== null);
    ctx.out(
      table(
        answer.plugins.filter((plugin) => !adapters.includes(plugin)),
        ctx,
      ),
    );
    if (adapters.length > 0)
      ctx.err(
        `${adapters.length} more each read the logs of one assistant (--json); \`sessarc doctor\` names the assistants of this machine.`,
      );
    const style = createStyle(ctx.colour);
    for (const { plugin, message, fix, count } of answer.problems)
      ctx.out(
        `${style.red(count === undefined ? "left out" : `failed ${count}×`)} ${printable(plugin)}: ${printable(message)}${fix ? `${/[.!?]$/.test(message) ? "" : "."} ${printable(fix)}` : ""}`,
      );
  }
  return 0;
}

function table(plugins: readonly PluginInfo[], ctx: CoreContext): string {
  const count = (n: number) => (n === 0 ? "" : String(n));
  return formatTable<PluginInfo>(
    [
      { title: "plugin", value: (it) => it.name },
      { title: "routes", align: "right", value: (it) => count(it.routes.length) },
      { title: "hooks", align: "right", value: (it) => count(it.hooks.length) },
      { title: "commands", value: (it) => it.commands.join(" "), shrink: true },
      { title: "services", value: (it) => it.services.join(" "), shrink: true },
      { title: "ms", align: "right", value: (it) => (it.ms === null ? "" : it.ms.toFixed(1)) },
    ],
    plugins,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );
}
