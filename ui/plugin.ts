/**
 * Loads what plugins add to the dashboard. A plugin that serves `GET /plugins/<its name>/ui.js` (mount "/") is asked for it at start;
 * such a module is typed by `sessarc/dashboard` (plugins/dashboard/ui.ts).
 */
import icons from "virtual:icons";
import { type Component, shallowReactive, watch } from "vue";
import type { Router } from "vue-router";
import type { DashboardHost, DashboardModule, DashboardUi, NavEntry, SessionPane } from "../plugins/dashboard/ui.ts";
import { api } from "./client.ts";
import { language } from "./i18n/index.ts";
import type { Command } from "./state/commands.ts";
import { useService } from "./state/service.ts";
import { toast } from "./state/toast.ts";

/** `key`: what names it in the address: its id, or `plugin.id` where an earlier plugin or the page itself has that one. */
type KeyedPane = SessionPane & { key: string };

/** What has come so far. Sorted in the order of the plugins, whichever module loaded first. */
const parts: { plugin: string; rank: number; ui: DashboardUi }[] = [];

export const extensions = shallowReactive({
  nav: [] as NavEntry[],
  commands: [] as Command[],
  sessionPanes: [] as KeyedPane[],
  messageRenderers: {} as Record<string, Component>,
  /** All modules have been requested: only then is an unknown address invalid. */
  ready: false,
});

/** Beside a session without any plugin: SidePane.vue. */
export const OWN_PANES = ["outline", "code", "diff", "files"] as const;

/** Modules are looked for once; one that fails is reported on the console and left out. The page stands meanwhile. */
export async function loadPlugins(router: Router): Promise<void> {
  await addModules(router);
  extensions.ready = true;
  // A deep link to a screen that a plugin brought with it, whichever came first: its module or the screen that knows none.
  await router.isReady().catch(() => undefined);
  const { name, fullPath } = router.currentRoute.value;
  if (name === "not-found" && router.resolve(fullPath).name !== "not-found") await router.replace(fullPath);
}

async function addModules(router: Router): Promise<void> {
  const response = await fetch("/api/plugins").catch(() => undefined);
  if (!response) {
    // A page that was opened while the service is away asks again when it is back.
    const stop = watch(useService().lost, (isLost) => {
      if (isLost) return;
      stop();
      void loadPlugins(router);
    });
  }
  if (!response?.ok) return;
  const { plugins } = (await response.json()) as { plugins: { name: string; routes: string[] }[] };
  const having = plugins.filter(({ name, routes }) => routes.some((route) => route.endsWith(`/plugins/${name}/ui.js`)));
  if (having.length === 0) return;
  const host = await toHost(router);
  await Promise.all(
    having.map(async ({ name }, rank) => {
      const url = `/plugins/${name}/ui.js`;
      try {
        const module = (await import(/* @vite-ignore */ url)) as { default: DashboardModule };
        addExtension(name, rank, module.default(host), router);
      } catch (error) {
        console.error(`The dashboard part of a plugin failed: ${url}`, error);
      }
    }),
  );
}

/** The kit is loaded for the first module: without plugins' pages nothing is made of it. */
const toHost = async (router: Router): Promise<DashboardHost> => ({
  ...(await import("./shared.ts")).share(),
  api,
  toast,
  router,
  language: language.value,
  icons: Object.keys(icons),
  css(rules) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets.push(sheet);
  },
});

/** An icon that is there: a misspelled one is logged for the plugin's author and drawn as a plug. */
function known(plugin: string, icon: string): string {
  if (Object.hasOwn(icons, icon)) return icon;
  console.warn(`Plugin "${plugin}": there is no icon "${icon}". There are ${Object.keys(icons).join(", ")}.`);
  return "plug";
}

function addExtension(plugin: string, rank: number, ui: DashboardUi, router: Router): void {
  const nav = ui.nav?.map((one) => ({ ...one, icon: known(plugin, one.icon) }));
  const commands = ui.commands?.map((one) =>
    one.icon === undefined ? one : { ...one, icon: known(plugin, one.icon) },
  );
  parts.push({ plugin, rank, ui: { ...ui, nav, commands } });
  parts.sort((a, b) => a.rank - b.rank);
  extensions.nav = parts.flatMap((one) => one.ui.nav ?? []);
  extensions.commands = parts.flatMap((one) => one.ui.commands ?? []);
  extensions.sessionPanes = keyedPanes();
  // Of two that draw the same tool's calls, the first plugin's.
  extensions.messageRenderers = Object.assign({}, ...parts.map((one) => one.ui.messageRenderers).toReversed());
  for (const route of ui.routes ?? []) router.addRoute(route);
}

function keyedPanes(): KeyedPane[] {
  const taken = new Set<string>(OWN_PANES);
  return parts.flatMap(({ plugin, ui }) =>
    (ui.sessionPanes ?? []).map((pane) => {
      const key = taken.has(pane.id) ? `${plugin}.${pane.id}` : pane.id;
      taken.add(key);
      return { ...pane, key };
    }),
  );
}
