/** `sessarc prices`. */
import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import {
  type CommandContext,
  createStyle,
  formatCount,
  formatTable,
  printable,
  send,
  UsageError,
  wrapColumns,
} from "sessarc/terminal";
import type { ModelPrice, Rates } from "./prices/pricing.ts";
import type { PriceList } from "./routes/prices.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action, file, ...more] = ctx.args;
  const { reset, date, yes, withdraw } = ctx.flags;
  const flags = [reset, date, yes, withdraw].filter((flag) => flag !== undefined).length;
  if (action === undefined && flags === 0) return show(ctx, await ctx.get("/prices"));
  if (action === "update" && file !== undefined && more.length === 0 && flags === (date === undefined ? 0 : 1))
    return show(ctx, await send<PriceList>(ctx, "PUT", TABLE, await readTableFile(resolve(ctx.cwd, file), date)));
  if (action === "update" && file === undefined) {
    if (flags === 0 || (yes === true && flags === 1)) return update(ctx);
    if (reset === true && flags === 1) return show(ctx, await send<PriceList>(ctx, "DELETE", TABLE));
    if (withdraw === true && flags === 1)
      return show(ctx, await send<PriceList>(ctx, "DELETE", `${TABLE}/consent`), "Nothing is fetched any more.");
  }
  throw new UsageError(
    "`sessarc prices` takes nothing, update [--yes], update <file> [--date d], update --reset, or update --withdraw",
  );
}

/** Fetches the published table. The first time the user is asked. */
async function update(ctx: CommandContext): Promise<number> {
  const before = await ctx.get<PriceList>("/prices");
  const { address, consent } = before.online;
  if (consent === null && !(await isAgreed(ctx, before))) return 1;
  const body = consent === null ? { consent: address } : {};
  const list = await send<PriceList>(ctx, "POST", `${TABLE}/fetch`, body, ctx.signal);
  const { fetchedAt, checkedAt } = list.online;
  return show(ctx, list, fetchedAt === checkedAt ? undefined : "The table is unchanged since it was fetched.");
}

/** In a terminal the user is asked; elsewhere `--yes` is the answer. */
async function isAgreed(ctx: CommandContext, { unpriced, online: { address } }: PriceList): Promise<boolean> {
  if (ctx.flags.yes === true) return true;
  if (unpriced.length > 0) ctx.err(`No price for ${named(unpriced)}.`);
  ctx.err(`The published price table is fetched from ${printable(address)}`);
  ctx.err("Nothing about you or your sessions is sent. `sessarc prices update --withdraw` takes the consent back.");
  if (!ctx.tty || process.stdin.isTTY !== true || ctx.json) {
    ctx.err("Nothing was fetched. --yes agrees and fetches it.");
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question("Fetch it, now and whenever you ask for it? [y/N] ", { signal: ctx.signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** Models that a line names. */
const NAMED = 3;
const named = (models: readonly string[]): string =>
  printable(models.slice(0, NAMED).join(", ")) + (models.length > NAMED ? ` and ${models.length - NAMED} more` : "");

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

function show(ctx: CommandContext, list: PriceList, notice?: string): number {
  if (notice !== undefined) ctx.err(notice);
  if (ctx.json) {
    ctx.out(JSON.stringify(list));
    return 0;
  }
  const { shipped, pricedAt, online } = list;
  const models = `${formatCount(list.tableModels)} ${list.tableModels === 1 ? "model" : "models"}`;
  const fetched = online.fetchedAt === null ? "loaded from a file" : `fetched on ${online.fetchedAt.slice(0, 10)}`;
  const origin = shipped.inForce ? "comes with sessarc" : fetched;
  const table = `Price table: ${printable(list.source)}, prices of ${pricedAt}, ${models}, ${origin}`;
  ctx.out(wrapColumns(table, ctx.columns ?? Number.POSITIVE_INFINITY, "  ").join("\n"));
  if (!shipped.inForce && shipped.date > pricedAt)
    ctx.err(
      `The table that comes with sessarc is newer (${shipped.date}): \`sessarc prices update --reset\` goes back to it.`,
    );
  if (list.models.length > 0) {
    ctx.out("Dollars per million tokens:");
    ctx.out(
      formatTable<ModelPrice>(
        [
          { title: "model", value: ({ model }) => printable(model), shrink: true },
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
  }
  if (online.failure) ctx.err(printable(`The last attempt to fetch a table failed: ${online.failure.reason}`));
  if (online.next !== null) ctx.err(`The service fetches the table next on ${online.next.slice(0, 10)}.`);
  if (list.unpriced.length > 0)
    ctx.err(`no price for ${printable(list.unpriced.join(", "))}: \`sessarc prices update\` fetches a newer table`);
  return 0;
}
