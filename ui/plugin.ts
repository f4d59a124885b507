/**
 * What a plugin may add to the dashboard. A plugin that serves `GET /plugins/<its name>/ui.js` (mount "/") is asked for it at start;
 * the module's default export is a function that gets `PluginHost` and answers a `PluginUi`.
 */
import { type Component, computed, defineComponent, h, onMounted, onUnmounted, ref, shallowReactive, watch } from "vue";
import type { RouteRecordRaw, Router } from "vue-router";
import { api } from "./client.ts";
import { t } from "./i18n/index.ts";
import type { Command } from "./state/commands.ts";
import { toast } from "./state/toast.ts";
import type { Message, SessionDetail } from "./wire.ts";

export interface NavEntry {
  path: string;
  label: string;
  /** Name of an icon of the dashboard (`icon-names.json`). */
  icon: string;
  keys?: string;
}
export interface SessionPane {
  id: string;
  label: string;
  /** Gets `session` (SessionDetail) and `selected` (seq or null). */
  component: Component<{ session: SessionDetail; selected: number | null }>;
}
export interface PluginUi {
  nav?: NavEntry[];
  routes?: RouteRecordRaw[];
  commands?: Command[];
  sessionPanes?: SessionPane[];
  /** By tool name, as the log has it: draws the arguments of that tool's calls. Gets `message` and `result`. */
  messageRenderers?: Record<string, Component<{ message: Message; result: Message | undefined }>>;
}

const vue = { computed, defineComponent, h, onMounted, onUnmounted, ref, watch };
export interface PluginHost {
  /** The dashboard's own Vue: a module cannot bring a second one. */
  vue: typeof vue;
  api: typeof api;
  t: typeof t;
  toast: typeof toast;
  router: Router;
}

export const extensions = shallowReactive({
  nav: [] as NavEntry[],
  commands: [] as Command[],
  sessionPanes: [] as SessionPane[],
  messageRenderers: {} as Record<string, Component>,
});

/** Modules are looked for once; one that fails is reported on the console and left out. */
export async function loadPlugins(router: Router): Promise<void> {
  const response = await fetch("/api/plugins").catch(() => undefined);
  if (!response?.ok) return;
  const body = (await response.json()) as
    | { plugins?: { name: string; routes: string[] }[] }
    | { name: string; routes: string[] }[];
  const list = Array.isArray(body) ? body : (body.plugins ?? []);
  const urls = list.flatMap(({ name, routes }) =>
    routes.some((route) => route.endsWith(`/plugins/${name}/ui.js`)) ? [`/plugins/${name}/ui.js`] : [],
  );
  await Promise.all(
    urls.map(async (url) => {
      try {
        const module = (await import(/* @vite-ignore */ url)) as { default: (host: PluginHost) => PluginUi };
        addExtension(module.default({ vue, api, t, toast, router }), router);
      } catch (error) {
        console.error(`The dashboard part of a plugin failed: ${url}`, error);
      }
    }),
  );
}

export function addExtension(ui: PluginUi, router: Router): void {
  extensions.nav = [...extensions.nav, ...(ui.nav ?? [])];
  extensions.commands = [...extensions.commands, ...(ui.commands ?? [])];
  extensions.sessionPanes = [...extensions.sessionPanes, ...(ui.sessionPanes ?? [])];
  extensions.messageRenderers = { ...extensions.messageRenderers, ...ui.messageRenderers };
  for (const route of ui.routes ?? []) router.addRoute(route);
}
