/** A plugin with a part in the dashboard: a pane beside each session that counts its words, and a page. Try it: `sessarc --plugin ./playground/plugins/words.ts --demo`. */
import { definePlugin, defineRoute } from "sessarc";

const ui = `export default ({ vue: { h, ref, onMounted }, api }) => ({
  nav: [{ path: "/words", label: "Words", icon: "sparkles" }],
  routes: [{ path: "/words", component: { render: () => h("div", { class: "page" }, [h("h1", { tabindex: -1, class: "text-page font-semibold" }, "Words"), h("p", "Open a session and choose the pane Words.")]) } }],
  sessionPanes: [{
    id: "words",
    label: "Words",
    component: {
      props: ["session"],
      setup(props) {
        const rows = ref([]);
        onMounted(async () => { rows.value = (await api("GET /sessions/:id/words", { params: { id: props.session.session.id } })).words; });
        return () => h("ol", { class: "overflow-y-auto p-4" }, rows.value.map(({ word, count }) => h("li", { class: "flex justify-between border-b border-line py-1" }, [word, h("span", { class: "tnum text-ink-2" }, count)])));
      },
    },
  }],
});`;

const words = defineRoute({
  method: "GET",
  path: "/sessions/:id/words",
  summary: "The words a session uses most",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    const counts = new Map<string, number>();
    for await (const batch of archive.events(await archive.row(params.id))) {
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
