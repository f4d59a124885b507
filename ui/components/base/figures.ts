/** The only ways a number, an amount or a time gets on a screen. */
import { type FunctionalComponent, h } from "vue";
import { ago, type Cost, clock, compactTime, duration, fullTime, money, nearTime, short } from "../../format.ts";
import { number, t } from "../../i18n/index.ts";

export const Num: FunctionalComponent<{ value: number; short?: boolean }> = (props) =>
  h(
    "span",
    { class: "tnum whitespace-nowrap", title: props.short ? number(props.value) : undefined },
    props.short ? short(props.value) : number(props.value),
  );
Num.props = { value: Number, short: Boolean } as never;

/**
 * A cost; without tokens the one that the assistant states (`logged`, millionths of a dollar). A model without a price, or a log without token
 * counts (`usage` is empty), shows a dash with the reason, never zero. A "+": a part of it has no price; with `worded` in words.
 */
export const Money: FunctionalComponent<{
  cost: Cost | null | undefined;
  usage?: object | undefined;
  logged?: number | null | undefined;
  worded?: boolean;
}> = ({ cost, usage, logged, worded }) => {
  if (usage !== undefined && Object.keys(usage).length === 0)
    return typeof logged === "number"
      ? h("span", { class: "tnum whitespace-nowrap text-ink-2", title: t("cost.logged") }, money(logged))
      : h("span", { class: "text-ink-3", title: t("cost.noTokens") }, "—");
  if (!cost) return h("span", { class: "text-ink-3", title: t("cost.none") }, "—");
  const unpriced = cost.unpriced.length > 0;
  const title = [
    t("cost.estimated", { date: cost.pricedAt }),
    unpriced ? t("cost.unpriced", { models: cost.unpriced.join(", ") }) : "",
    cost.atStandard ? t("cost.atStandard", { models: cost.atStandard.join(", ") }) : "",
  ]
    .filter(Boolean)
    .join("\n");
  if (unpriced && cost.microdollars === 0) return h("span", { class: "text-ink-3", title }, "—");
  return h("span", { class: "tnum whitespace-nowrap", title }, [
    money(cost.microdollars),
    unpriced ? h("span", { class: "text-ink-3" }, ` ${worded ? t("cost.andUnpriced") : "+"}`) : null,
  ]);
};
Money.props = { cost: null, usage: null, logged: null, worded: Boolean } as never;

/** `clock`: under the name of its day. `near`: compact, with the hour in the last days. */
export const Ago: FunctionalComponent<{ at: string | null; compact?: boolean; near?: boolean; clock?: boolean }> = (
  props,
) => said(props.at, props.clock ? clock : props.near ? nearTime : props.compact ? compactTime : ago);
Ago.props = { at: null, compact: Boolean, near: Boolean, clock: Boolean } as never;
const said = (at: string | null, show: (at: string) => string) =>
  at === null
    ? h("span", { class: "text-ink-3" }, "—")
    : h("time", { datetime: at, title: fullTime(at), class: "tnum whitespace-nowrap" }, show(at));

export const Span: FunctionalComponent<{ ms: number }> = ({ ms }) =>
  h("span", { class: "tnum whitespace-nowrap" }, duration(ms));
Span.props = ["ms"];
