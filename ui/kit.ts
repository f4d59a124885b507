/** Parts for plugins' pages: the dashboard's own looks without its class names, which only its build knows. */
import { type FunctionalComponent, h, type Slots } from "vue";
import type { DashboardKit, TableColumn } from "../plugins/dashboard/ui.ts";
import { ApiError } from "./client.ts";
import Btn from "./components/base/Btn.vue";
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

const Table: DashboardKit["Table"] = ({ caption, columns, rows }) => {
  const looks = ({ align, mono }: TableColumn<unknown>) => [
    align === "end" ? "tnum text-end" : "text-start",
    mono ? "font-mono text-label" : "",
  ];
  const cell = (column: TableColumn<unknown>, row: unknown, i: number) =>
    h(i === 0 ? "th" : "td", { ...(i === 0 && { scope: "row" }), class: ["row-y pe-4 font-normal", looks(column)] }, [
      column.value(row),
    ]);
  // A region that scrolls must be one that keys reach.
  return h("div", { class: "overflow-x-auto", role: "region", "aria-label": caption, tabindex: 0 }, [
    h("table", { class: "w-full" }, [
      h("caption", { class: "sr-only" }, caption),
      h("thead", [
        h(
          "tr",
          { class: "border-b border-line text-label text-ink-2" },
          columns.map((column) => h("th", { scope: "col", class: ["pe-4 pb-1", looks(column)] }, column.title)),
        ),
      ]),
      h(
        "tbody",
        rows.map((row) =>
          h(
            "tr",
            { class: "border-b border-line" },
            columns.map((column, i) => cell(column, row, i)),
          ),
        ),
      ),
    ]),
  ]);
};
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
