/** A plugin's part in the dashboard, typed as a stranger's would be; sent to the page as text, so it may use nothing but its argument. */
import type { DashboardModule, TableColumn } from "sessarc/dashboard";

interface Bird {
  name: string;
  seen: number;
}

export const module: DashboardModule = ({ vue: { h, ref }, kit, api, css, icons, router, toast }) => {
  const columns: TableColumn<Bird>[] = [
    { title: "bird", value: (bird) => bird.name },
    { title: "seen", align: "end", value: (bird) => h("b", bird.seen) },
    { title: "ring", mono: true, value: (bird) => `R-${bird.seen}` },
  ];
  const rows: Bird[] = [
    { name: "chiffchaff", seen: 12 },
    { name: "wryneck", seen: 1 },
  ];
  css(".birds-note { color: var(--accent); border-inline-start: 2px solid var(--line-strong); }");
  const Birds = {
    setup() {
      const error = ref<unknown>();
      const place = ref("window");
      const ask = () =>
        api("GET /sessions/:id", { params: { id: "codex:none" } }).catch((reason: unknown) => {
          error.value = reason;
        });
      return () =>
        h(
          kit.Page,
          { title: "Birds", text: `Seen from the window; ${icons.length > 0 ? "drawn" : "not drawn"}.` },
          {
            actions: () => h(kit.Button, { kind: "primary", icon: "search", onClick: ask }, () => "Ask"),
            default: () => [
              h(kit.Select, {
                label: "Seen from",
                value: place.value,
                options: [
                  { value: "window", label: "The window" },
                  { value: "roof", label: "The roof" },
                ],
                onSelect: (chosen: string) => {
                  place.value = chosen;
                },
              }),
              h(kit.Section, { title: "This year" }, () =>
                h(kit.Table, {
                  caption: "Birds of this year",
                  columns,
                  rows: place.value === "window" ? rows : rows.slice(1),
                }),
              ),
              h(kit.Section, { title: "Last year" }, () =>
                h(kit.Empty, { title: "Nothing was seen", text: "It rained." }),
              ),
              h(kit.Heading, { level: 3 }, () => "Notes"),
              h("p", { class: "birds-note" }, "On the left."),
              error.value === undefined ? null : h(kit.Failure, { error: error.value, onRetry: () => toast("again") }),
            ],
          },
        );
    },
  };
  return {
    nav: [{ path: "/birds", label: "Birds", icon: "burd" }],
    routes: [{ path: "/birds", component: Birds }],
    commands: [{ id: "birds", label: "Go to the birds", run: () => router.push("/birds") }],
  };
};
