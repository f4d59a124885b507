/** Its part of the dashboard, which runs in the browser. There `vue` and `sessarc/kit` are the dashboard's own; other imports may only be types. */
import type { DashboardModule, TableColumn } from "sessarc/dashboard";
import { Empty, Failure, Page as Frame, Table } from "sessarc/kit";
import { h, onMounted, ref } from "vue";
import type { Busy } from "./index.ts";

const columns: TableColumn<Busy>[] = [
  { title: "project", value: ({ name }) => name },
  { title: "sessions", align: "end", value: ({ sessions }) => sessions },
  { title: "messages", align: "end", value: ({ messages }) => messages },
];

const ui: DashboardModule = ({ api }) => {
  const Page = {
    setup() {
      const rows = ref<Busy[]>();
      const error = ref<unknown>();
      const load = async () => {
        try {
          rows.value = await api("GET /starter/busiest");
          error.value = undefined;
        } catch (reason) {
          error.value = reason;
        }
      };
      onMounted(load);
      return () =>
        h(Frame, { title: "Starter", text: "The projects with most sessions." }, () => {
          if (error.value !== undefined) return h(Failure, { error: error.value, onRetry: load });
          if (rows.value?.length === 0)
            return h(Empty, { title: "No projects yet", text: "Import some sessions first." });
          return rows.value && h(Table, { caption: "Projects", columns, rows: rows.value });
        });
    },
  };
  return {
    nav: [{ path: "/starter", label: "Starter", icon: "plug" }],
    routes: [{ path: "/starter", component: Page }],
  };
};

export default ui;
