/** What keeps a list empty: each filter that is on can be given up by its name. */
import { t } from "../i18n/index.ts";
import type { DayRange } from "./range.ts";

export interface Condition {
  /** What giving it up does: "Without “Codex”". */
  label: string;
  drop(): void;
}

/** One condition where the filter is on. `name`: as the screen calls it; `off`: the value that leaves out nothing. */
export const conditionOf = (filter: { value: string }, name: string, off = ""): Condition[] =>
  filter.value === off
    ? []
    : [
        {
          label: t("nothing.without", { name }),
          drop: () => {
            filter.value = off;
          },
        },
      ];

/** A range that leaves out any day. */
export const daysCondition = (range: DayRange): Condition[] =>
  range.key.value === "all" ? [] : [{ label: t("home.widen"), drop: () => range.set("all") }];
