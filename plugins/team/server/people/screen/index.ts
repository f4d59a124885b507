/**
 * The screen People of a server's dashboard, which a local one does not have: usage by person, and whose sessions are whose. The build makes one module of
 * this folder, which the page loads as it loads any plugin's.
 */
import type { RoutesOf } from "sessarc";
import type { DashboardHost, DashboardUi, TableColumn } from "sessarc/dashboard";
import { Button, Empty, Failure, Page, Section, Select, Table } from "sessarc/kit";
import { computed, h, ref, watch } from "vue";
import type { TeamSession, TeamUsageRow, viewRoutes } from "../view.ts";
import { createMembers } from "./members.ts";
import { type ScreenWords, WORDS } from "./words.ts";

type Routes = RoutesOf<typeof viewRoutes>;
type Key = keyof Routes & string;
type Host = Omit<DashboardHost, "api"> & {
  api<K extends Key>(
    key: K,
    init: { query: Readonly<Record<string, string | undefined>> },
  ): Promise<Routes[K]["response"]>;
};
type People = Routes["GET /team/people"]["response"]["people"];

export default ({ api, css, toast, router, language }: Host): DashboardUi => {
  const path = "/people";
  const words = WORDS[language] ?? (WORDS.en as ScreenWords);
  css(
    `.team-filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin-block: 0.75rem; }
     .team-link { display: block; max-width: min(36rem, 46vw); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--ink); font-weight: 500; }
     .team-link:hover { text-decoration: underline; }
     .team-note { color: var(--ink-2); font-size: 0.8125rem; margin-block-end: 0.5rem; }
     .team-day { white-space: nowrap; }`,
  );
  const team = createMembers({ css, toast }, words);
  const number = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const money = new Intl.NumberFormat(language, { style: "currency", currency: "USD" });
  const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const NAMES = ["by", "person", "machine", "project", "days"] as const;
  const People = {
    setup() {
      const query = computed(() => {
        const given = router.currentRoute.value.query;
        return Object.fromEntries(NAMES.map((name) => [name, typeof given[name] === "string" ? given[name] : ""]));
      });
      const people = ref<People>([]);
      const projects = ref<readonly TeamUsageRow[]>([]);
      const rows = ref<readonly TeamUsageRow[]>([]);
      const sessions = ref<readonly TeamSession[]>([]);
      const next = ref<string | null>(null);
      const error = ref<unknown>();
      let asked = 0;
      /** Names of people and projects: asked for once, whatever is filtered. */
      let known: Promise<void> | undefined;
      const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;

      const own = {
        async load(): Promise<void> {
          const mine = ++asked;
          const { by = "", person = "", machine = "", project = "", days = "" } = query.value;
          const whose = {
            ...(person !== "" && { person }),
            ...(machine !== "" && { machine }),
            ...(project !== "" && { project }),
          };
          const from = new Date(Date.now() - (Number(days) - 1) * 86_400_000).toLocaleDateString("sv-SE");
          const range = { tz, ...(days !== "" && { from }) };
          try {
            known ??= own.names();
            const [usage, list] = await Promise.all([
              api("GET /team/usage", { query: { by: by || "person", ...whose, ...range } }),
              api("GET /team/sessions", { query: whose }),
              known,
            ]);
            // A later question was asked.
            if (mine !== asked) return;
            error.value = undefined;
            rows.value = usage.rows;
            sessions.value = list.sessions;
            next.value = list.nextCursor;
          } catch (reason) {
            // The next try asks for them again.
            known = undefined;
            if (mine === asked) error.value = reason;
          }
        },
        async names(): Promise<void> {
          const [everyone, everything] = await Promise.all([
            api("GET /team/people", { query: {} }),
            api("GET /team/usage", { query: { by: "project", tz } }),
          ]);
          people.value = everyone.people;
          projects.value = everything.rows;
        },
        async more(): Promise<void> {
          const mine = asked;
          const { person = "", machine = "", project = "" } = query.value;
          const whose = Object.fromEntries(
            Object.entries({ person, machine, project, cursor: next.value ?? "" }).filter(([, one]) => one !== ""),
          );
          try {
            const list = await api("GET /team/sessions", { query: whose });
            if (mine !== asked) return;
            sessions.value = [...sessions.value, ...list.sessions];
            next.value = list.nextCursor;
          } catch (reason) {
            error.value = reason;
          }
        },
        set(name: string, value: string) {
          const next = { ...query.value, [name]: value, ...(name === "person" && { machine: "" }) };
          return router.push(`${path}?${new URLSearchParams(Object.entries(next).filter(([, one]) => one !== ""))}`);
        },
        nameOf(id: string | null) {
          return people.value.find((one) => one.id === id)?.name ?? id ?? "";
        },
        machineOf(id: string | null) {
          return people.value.flatMap((one) => one.machines).find((one) => one.machine === id)?.name ?? id ?? "";
        },
        select(name: string, label: string, options: readonly (readonly [value: string, text: string])[]) {
          return h(Select, {
            label,
            value: query.value[name] ?? "",
            options: options.map(([value, text]) => ({ value, label: text })),
            onSelect: (value: string) => own.set(name, value),
          });
        },
        open(to: string, text: string) {
          return h(
            "a",
            {
              class: "team-link",
              href: to,
              title: text,
              onClick(event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; preventDefault(): void }) {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                void router.push(to);
              },
            },
            text,
          );
        },
        tokensOf({ tokens }: TeamUsageRow) {
          return Object.values(tokens).reduce((sum, one) => sum + one, 0);
        },
        usage(by: string): TableColumn<TeamUsageRow>[] {
          return [
            {
              title: by,
              value({ name }) {
                return name;
              },
            },
            {
              title: words.sessions,
              align: "end",
              value(row) {
                return number.format(row.sessions);
              },
            },
            {
              title: words.tokens,
              align: "end",
              value(row) {
                return number.format(own.tokensOf(row));
              },
            },
            {
              title: words.cost,
              align: "end",
              value({ cost }) {
                return money.format(cost.microdollars / 1e6);
              },
            },
          ];
        },
      };
      watch(
        () => router.currentRoute.value,
        (route) => {
          if (route.path !== path) return;
          void own.load();
          void team.load();
        },
        { immediate: true },
      );

      const machines = computed(() =>
        people.value
          .filter(({ id }) => query.value.person === "" || id === query.value.person)
          .flatMap((one) => one.machines),
      );
      const list: TableColumn<TeamSession>[] = [
        {
          title: words.session,
          value({ id, name, title, firstPrompt }) {
            const text = name ?? title ?? firstPrompt?.slice(0, 200) ?? `${words.untitled} ${id.slice(-8)}`;
            return own.open(`/sessions/${encodeURIComponent(id)}`, text);
          },
        },
        {
          title: words.person,
          value({ person }) {
            return own.nameOf(person);
          },
        },
        {
          title: words.machine,
          value({ machine }) {
            return own.machineOf(machine);
          },
        },
        {
          title: words.last,
          align: "end",
          value({ endedAt, importedAt }) {
            return h("span", { class: "team-day" }, date.format(new Date(endedAt ?? importedAt)));
          },
        },
      ];
      return () => {
        const by = query.value.by || "person";
        const kinds = [
          ["", words.person],
          ["machine", words.machine],
          ["project", words.project],
          ["model", words.model],
        ] as const;
        const byWord = kinds.find(([kind]) => kind === query.value.by)?.[1] ?? words.person;
        return h(Page, { title: words.title, text: words.text }, () => [
          h("div", { class: "team-filters", role: "search", "aria-label": words.filters }, [
            own.select("person", words.person, [
              ["", words.everyone],
              ...people.value.map(({ id, name }) => [id, name] as const),
            ]),
            own.select("machine", words.machine, [
              ["", words.everyMachine],
              ...machines.value.map(({ machine, name }) => [machine, name] as const),
            ]),
            own.select("project", words.project, [
              ["", words.everyProject],
              ...projects.value.map(({ key, name }) => [key, name] as const),
            ]),
          ]),
          error.value === undefined ? null : h(Failure, { error: error.value, onRetry: own.load }),
          h(Section, { title: words.usage }, () => [
            h("div", { class: "team-filters" }, [
              own.select("by", words.by, kinds),
              own.select("days", words.days, [
                ["", words.allDays],
                ["7", words.days7],
                ["30", words.days30],
                ["90", words.days90],
              ]),
            ]),
            h("p", { class: "team-note" }, words.counted),
            rows.value.length === 0
              ? h(Empty, { title: words.none })
              : h(Table, { key: by, caption: words.usage, columns: own.usage(byWord), rows: rows.value }),
          ]),
          team.render(),
          h(Section, { title: words.sessions }, () => [
            sessions.value.length === 0
              ? h(Empty, { title: words.none })
              : h(Table, { caption: words.sessions, columns: list, rows: sessions.value }),
            next.value === null ? null : h(Button, { onClick: own.more }, () => words.more),
          ]),
        ]);
      };
    },
  };
  return {
    nav: [{ path, label: words.title, icon: "users-round" }],
    routes: [{ path, component: People }],
  };
};
