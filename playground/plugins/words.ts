/** A plugin with a part in the dashboard: a pane beside each session that counts its words, and a page. Try it: `sessarc --plugin ./playground/plugins/words.ts --demo`. */
import { definePlugin, defineRoute } from "sessarc";

/** A `DashboardModule` (`sessarc/dashboard`). As text, so that this one file needs no build; a plugin of its own would compile a `ui.ts`. */
const ui = `export default ({ vue: { h, ref, onMounted, watch }, kit, api }) => {
  const columns = [
    { title: "word", value: ({ word }) => word },
    { title: "times", align: "end", value: ({ count }) => count },
  ];
  /** The words of a session, or why there are none. */
  const Words = {
    props: ["id"],
    setup(props) {
      const rows = ref(), error = ref();
      const load = () => api("GET /sessions/:id/words", { params: { id: props.id } }).then(
        (answer) => { rows.value = answer.words; error.value = undefined; },
        (reason) => { error.value = reason; },
      );
      onMounted(load);
      watch(() => props.id, load);
      return () => error.value ? h(kit.Failure, { error: error.value, onRetry: load })
        : rows.value?.length === 0 ? h(kit.Empty, { title: "No words", text: "This session has only calls and results." })
        : rows.value && h(kit.Table, { caption: "Words", columns, rows: rows.value });
    },
  };
  const Page = {
    setup() {
      const sessions = ref([]);
      onMounted(async () => { sessions.value = (await api("GET /sessions", { query: { limit: 3 } })).sessions; });
      return () => h(kit.Page, { title: "Words", text: "What the newest sessions are about. The pane Words of a session has all of it." }, () =>
        sessions.value.map(({ id, title }) => h(kit.Section, { key: id, title: title ?? id }, () => h(Words, { id }))));
    },
  };
  const Pane = { props: ["session", "selected"], render() { return h("div", { class: "words-pane" }, h(Words, { id: this.session.session.id })); } };
  return {
    nav: [{ path: "/words", label: "Words", icon: "sparkles" }],
    routes: [{ path: "/words", component: Page }],
    sessionPanes: [{ id: "words", label: "Words", component: Pane }],
  };
};`;

const words = defineRoute({
  method: "GET",
  path: "/sessions/:id/words",
  summary: "The words a session uses most",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    const counts = new Map<string, number>();
    for await (const batch of archive.events(await archive.get(params.id))) {
      for (const { kind, text } of batch) {
        if (kind !== "user" && kind !== "assistant") continue;
        for (const word of text.toLowerCase().match(/\p{L}{5,}/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
    const best = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 50);
    return { words: best.map(([word, count]) => ({ word, count })) };
  },
});

const script = defineRoute({
  method: "GET",
  path: "/plugins/words/ui.js",
  mount: "/",
  summary: "Its part of the dashboard",
  handler: () => new Response(ui, { headers: { "content-type": "text/javascript; charset=utf-8" } }),
});

export default definePlugin({ name: "words", dependsOn: ["archive"], routes: [words, script] });
