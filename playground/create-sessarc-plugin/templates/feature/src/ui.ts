/** Its part of the dashboard, which runs in the browser and is handed all it needs: imports here may only be types. */
import type { DashboardModule, TableColumn } from "sessarc/dashboard";
import type { Busy } from "./index.ts";

const columns: TableColumn<Busy>[] = [
  { title: "project", value: ({ name }) => name },
  { title: "sessions", align: "end", value: ({ sessions }) => sessions },
  { title: "messages", align: "end", value: ({ messages }) => messages },
];

const ui: DashboardModule = ({ vue: { h, ref, onMounted }, kit, api }) => {
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
        h(kit.Page, { title: "Starter", text: "The projects with most sessions." }, () => {
          if (error.value !== undefined) return h(kit.Failure, { error: error.value, onRetry: load });
          if (rows.value?.length === 0)
            return h(kit.Empty, { title: "No projects yet", text: "Import some sessions first." });
          return rows.value && h(kit.Table, { caption: "Projects", columns, rows: rows.value });
        });
    },
  };
  return {
    nav: [{ path: "/starter", label: "Starter", icon: "plug" }],
    routes: [{ path: "/starter", component: Page }],
  };
};

export default ui;
