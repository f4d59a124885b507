/**
 * Prices of models that are newer than the table in the package (`newer.json`, in the format of a price table; each with its source and
 * date). The table's price counts where it has one, so a newer package replaces them. Rows that correct a wrong price count before the
 * table, until it has a later date than they.
 */
import type { MatchLogic } from "@pydantic/genai-prices";
import * as v from "valibot";
import type { FindProvider, TableProvider } from "./match.ts";
import data from "./newer.json" with { type: "json" };
import { toFinder } from "./table.ts";

/** Another one after each change of the rows. */
export const NEWER_ID: string = data.id;

const RuleSchema: v.GenericSchema<MatchLogic> = v.lazy(() =>
  v.union([
    v.strictObject({ or: v.array(RuleSchema) }),
    v.strictObject({ equals: v.string() }),
    v.strictObject({ starts_with: v.string() }),
    v.strictObject({ contains: v.string() }),
    v.strictObject({ regex: v.string() }),
  ]),
);
const RateSchema = v.union([
  v.number(),
  v.strictObject({ base: v.number(), tiers: v.array(v.strictObject({ start: v.number(), price: v.number() })) }),
]);
const RatesSchema = v.record(
  v.picklist(["input_mtok", "output_mtok", "cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok"]),
  RateSchema,
);
const ModelSchema = v.strictObject({
  id: v.string(),
  match: RuleSchema,
  context_window: v.number(),
  /** Where the price is from, and the day on which it was so. */
  source: v.string(),
  date: v.pipe(v.string(), v.isoDate()),
  /** The table's own price is wrong until this day. */
  corrects: v.optional(v.literal(true)),
  prices: v.union([
    RatesSchema,
    v.array(
      v.strictObject({
        prices: RatesSchema,
        constraint: v.optional(v.strictObject({ type: v.literal("start_date"), start_date: v.string() })),
      }),
    ),
  ]),
});
const ProvidersSchema = v.array(
  v.strictObject({
    id: v.string(),
    provider_match: v.optional(RuleSchema),
    model_match: v.optional(RuleSchema),
    models: v.array(ModelSchema),
  }),
);

type Newer = v.InferOutput<typeof ProvidersSchema>;
let read: Newer | undefined;

/** The rows, checked once. Throws when the file is not well formed. */
export function newerProviders(): Newer {
  read ??= v.parse(ProvidersSchema, data.providers);
  return read;
}

/** Models that no price table has to have. */
export const findNewer: FindProvider = (options) =>
  toFinder({ providers: newerProviders().map(toTableProvider) })(options);

/** Models whose price in a table of this day is wrong. */
export function findCorrected(day: string): FindProvider {
  const providers = newerProviders().map((one) => ({
    ...one,
    models: one.models.filter(({ corrects, date }) => corrects && date > day),
  }));
  return toFinder({ providers: providers.filter(({ models }) => models.length > 0).map(toTableProvider) });
}

function toTableProvider({ id, models, provider_match, model_match }: Newer[number]): TableProvider {
  const provider: TableProvider = { id, models };
  if (provider_match) provider.provider_match = provider_match;
  if (model_match) provider.model_match = model_match;
  return provider;
}
