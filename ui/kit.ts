/** Parts for plugins' pages: the dashboard's own looks without its class names, which only its build knows. */
import { type FunctionalComponent, h, type Slots } from "vue";
import type { DashboardKit } from "../plugins/dashboard/ui.ts";
import { ApiError } from "./client.ts";
import Btn from "./components/base/Btn.vue";
import DataTable from "./components/base/DataTable.vue";
import Icon from "./components/base/Icon.ts";
import SelectField from "./components/base/SelectField.vue";
import { t } from "./i18n/index.ts";

interface Titled {
  title: string;
  text?: string;
}

const heading = (level: "h1" | "h2", { title, text }: Titled, slots: Slots) =>
  h("header", { class: "mb-3 flex flex-wrap items-center justify-between gap-3" }, [
    h("div", [
      // The router moves the focus to the first heading of a page.
      level === "h1"
        ? h("h1", { tabindex: -1, class: "text-page font-semibold" }, title)
        : h("h2", { class: "text-title font-semibold" }, title),
      text === undefined ? null : h("p", { class: "mt-1 max-w-prose text-ink-2" }, text),
    ]),
    slots.actions ? h("div", { class: "flex flex-wrap gap-2" }, slots.actions()) : null,
  ]);

const Page: FunctionalComponent<Titled> = (props, { slots }) =>
  h("div", { class: "page" }, [heading("h1", props, slots), slots.default?.()]);
Page.props = ["title", "text"];

const Section: FunctionalComponent<Titled> = (props, { slots }) =>
  h("section", { class: "mt-8" }, [heading("h2", props, slots), slots.default?.()]);
Section.props = ["title", "text"];

const Heading: DashboardKit["Heading"] = ({ level = 2 }, { slots }) =>
  h(`h${level}`, { class: "mt-6 mb-2 text-title font-semibold" }, slots.default?.());
Heading.props = ["level"];

const Table: DashboardKit["Table"] = ({ caption, columns, rows }) =>
  h(DataTable<unknown>, {
    caption,
    headPad: "pe-4 pb-1",
    rows,
    rowKey: (_: unknown, index: number) => index,
    columns: columns.map(({ title, value, align, mono }, index) => ({
      key: String(index),
      label: title,
      class: align === "end" ? "tnum text-end" : "text-start",
      headClass: mono ? "font-mono text-label" : "",
      cellClass: mono ? "pe-4 font-mono text-label" : "pe-4",
      isName: index === 0,
      value,
    })),
  });
Table.props = ["caption", "columns", "rows"];

const Empty: FunctionalComponent<Titled> = ({ title, text }, { slots }) =>
  h("div", { class: "my-6 grid max-w-xl gap-2" }, [
    h("p", { class: "font-medium" }, title),
    text === undefined ? null : h("p", { class: "text-ink-2" }, text),
    slots.default?.(),
  ]);
Empty.props = ["title", "text"];

const Failure: DashboardKit["Failure"] = ({ error, onRetry }) => {
  const known = error instanceof ApiError ? error : undefined;
  return h("div", { role: "alert", class: "my-6 flex max-w-xl gap-3 border-s-2 border-bad ps-4" }, [
    h(Icon, { name: "circle-alert", class: "mt-0.5 text-bad" }),
    h("div", { class: "grid gap-2" }, [
      h("p", { class: "font-medium" }, error instanceof Error ? error.message : String(error)),
      known?.fix ? h("p", { class: "text-ink-2" }, known.fix) : null,
      known ? h("p", { class: "font-mono text-meta text-ink-3" }, `${known.status || "—"} ${known.code}`) : null,
      onRetry ? h("p", [h(Btn, { small: true, icon: "refresh-cw", onClick: onRetry }, () => t("action.retry"))]) : null,
    ]),
  ]);
};
Failure.props = ["error", "onRetry"];

const Button: DashboardKit["Button"] = (props, { slots }) => h(Btn, props, slots);
Button.props = ["icon", "kind", "onClick"];

const Select: DashboardKit["Select"] = ({ label, value, options, onSelect }) =>
  h(SelectField, { label, options, modelValue: value, "onUpdate:modelValue": onSelect });
Select.props = ["label", "value", "options", "onSelect"];

export const kit: DashboardKit = { Page, Section, Heading, Table, Empty, Failure, Button, Icon, Select };
