import { createRouter, createWebHistory, type NavigationGuard, type RouteRecordRaw, type Router } from "vue-router";
import { wordsReady } from "./i18n/index.ts";
import { watchLeaving } from "./state/leaving.ts";
import { hasScreen } from "./state/offers.ts";
import { watchRoutes } from "./state/route-failure.ts";

/**
 * Addresses of earlier versions: what follows the old path, the query and the hash are kept. A query that is named here is added. Its target exists:
 * `test/ui/addresses.test.ts` opens each.
 */
export const MOVED: readonly { from: string; to: string; query?: Readonly<Record<string, string>>; hash?: string }[] = [
  { from: "/feedback", to: "/help/feedback" },
  { from: "/search", to: "/sessions", hash: "#search" },
  { from: "/notes", to: "/sessions", query: { view: "notes" } },
  { from: "/calls", to: "/sessions", query: { view: "calls" } },
  { from: "/shares", to: "/sessions", query: { view: "shares" } },
  { from: "/rescue", to: "/sessions", query: { view: "hidden" } },
];

const redirects: RouteRecordRaw[] = MOVED.map(({ from, to, query, hash = "" }) => ({
  path: `${from}/:rest(.*)*`,
  redirect: (old) => ({
    path: to + old.path.slice(from.length),
    query: { ...old.query, ...query },
    hash: old.hash || hash,
  }),
}));

const home = () => import("./features/home/home.vue");

/** The first screen had days and a chart before: an address with days leads to Usage, one with a single day to its sessions. */
const leaveRange: NavigationGuard = ({ query: { day, ...query }, hash }) => {
  if (typeof day === "string") return { path: "/sessions", query: { from: day, to: day } };
  return query.days || query.from ? { path: "/usage", query, hash } : true;
};

const routes: RouteRecordRaw[] = [
  { path: "/", name: "home", component: home, beforeEnter: leaveRange },
  { path: "/projects", name: "projects", component: () => import("./features/projects/projects.vue") },
  { path: "/projects/:id", name: "project", component: () => import("./features/projects/project.vue"), props: true },
  {
    path: "/sessions",
    name: "sessions",
    component: () => import("./features/sessions/sessions.vue"),
    meta: { stays: true },
    children: [
      { path: ":id", name: "session", component: () => import("./features/session/session.vue"), props: true },
    ],
  },
  { path: "/compare", name: "compare", component: () => import("./features/sessions/compare.vue") },
  { path: "/usage", name: "usage", component: () => import("./features/usage/usage.vue") },
  { path: "/import", name: "import", component: () => import("./features/import/import.vue") },
  { path: "/tools", redirect: "/security" },
  { path: "/security", name: "security", component: () => import("./features/security/security.vue") },
  { path: "/help/feedback", name: "feedback", component: () => import("./features/feedback/feedback.vue") },
  { path: "/help/:page(.*)?", name: "help", component: () => import("./features/help/help.vue"), props: true },
  { path: "/skills", name: "skills", component: () => import("./features/skills/skills.vue") },
  { path: "/skills/scan", name: "skills-scan", component: () => import("./features/skills/skills-scan.vue") },
  { path: "/skills/:id", name: "skill", component: () => import("./features/skills/skill.vue"), props: true },
  { path: "/mcp-hub", name: "mcp-hub", component: () => import("./features/hub/mcp-hub.vue") },
  { path: "/replay", redirect: ({ query }) => ({ path: "/sessions", query }) },
  { path: "/replay/:id", name: "replay", component: () => import("./features/replay/replay.vue"), props: true },
  {
    path: "/settings/:section?",
    name: "settings",
    component: () => import("./features/settings/settings.vue"),
    props: true,
  },
  { path: "/:rest(.*)*", name: "not-found", component: () => import("./components/NotFound.vue") },
];

export function createAppRouter(): Router {
  // On its way while plugins load.
  if (location.pathname === "/") void home();
  const router = createRouter({
    history: createWebHistory(),
    routes: [...redirects, ...routes.filter(hasScreen)],
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
  });
  router.beforeResolve(wordsReady);
  watchLeaving(router);
  watchRoutes(router);
  return router;
}
