/** `sessarc prices`. */
import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type CommandContext, createStyle, formatTable, printable, UsageError } from "sessarc";
import { formatCount, send } from "#internal/terminal";
import type { ModelPrice, Rates } from "./prices/pricing.ts";
import type { PriceList } from "./routes/prices.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action, file, ...more] = ctx.args;
  const { reset, date } = ctx.flags;
  if (action === undefined && reset !== true && date === undefined) return show(ctx, await ctx.get("/prices"));
  if (action === "update" && reset === true && file === undefined && date === undefined)
    return show(ctx, await send<PriceList>(ctx, "DELETE", TABLE));
  if (action === "update" && reset !== true && file !== undefined && more.length === 0)
    return show(ctx, await send<PriceList>(ctx, "PUT", TABLE, await readTableFile(resolve(ctx.cwd, file), date)));
  throw new UsageError("`sessarc prices` takes nothing, update <file> [--date d], or update --reset");
}

const TABLE = "/prices/table";

/** Of a file with its spaces and line ends. The service has a lower limit for the table alone. */
const MOST_BYTES = 16 * 2 ** 20;

/** `file`: an absolute path. */
async function readTableFile(file: string, date: unknown): Promise<unknown> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`There is no file ${file}`);
  if (found.size > MOST_BYTES)
    throw new UsageError(`${file} is larger than 16 MiB: choose the data.json of genai-prices`);
  let providers: unknown;
  try {
    providers = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${file} is not JSON: choose the data.json of genai-prices`);
  }
  if (!Array.isArray(providers))
    throw new UsageError(
      `${file} is not a price table: it must be a list of providers, as the data.json of genai-prices`,
    );
  const day = typeof date === "string" ? date : found.mtime.toISOString().slice(0, 10);
  return { date: day, source: basename(file), providers };
}

const RATES = [
  ["input", "input"],
  ["output", "output"],
  ["cacheRead", "cache read"],
  ["cacheWrite5m", "write 5m"],
  ["cacheWrite1h", "write 1h"],
] as const satisfies readonly (readonly [keyof Rates, string])[];

function show(ctx: CommandContext, list: PriceList): number {
  if (ctx.json) {
    ctx.out(JSON.stringify(list));
    return 0;
  }
  const { shipped, pricedAt } = list;
  const models = `${formatCount(list.tableModels)} ${list.tableModels === 1 ? "model" : "models"}`;
  const origin = shipped.inForce ? "comes with sessarc" : "loaded from a file";
  ctx.out(`Price table: ${printable(list.source)}, prices of ${pricedAt}, ${models}, ${origin}`);
  if (!shipped.inForce && shipped.date > pricedAt)
    ctx.err(
      `The table that comes with sessarc is newer (${shipped.date}): \`sessarc prices update --reset\` goes back to it.`,
    );
  if (list.models.length > 0)
    ctx.out(
      formatTable<ModelPrice>(
        [
          { title: "model, dollars per million tokens", value: ({ model }) => printable(model) },
          ...RATES.map(([name, title]) => ({
            title,
            align: "right" as const,
            value: ({ rates }: ModelPrice) => String(rates[name]),
          })),
          { title: "", value: ({ origin }) => (origin === "override" ? "your price" : "") },
        ],
        list.models,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  if (list.unpriced.length > 0) ctx.err(`no price for ${printable(list.unpriced.join(", "))}`);
  return 0;
}
