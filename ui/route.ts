import { createRouter, createWebHistory, type NavigationGuard, type RouteRecordRaw, type Router } from "vue-router";
import { wordsReady } from "./i18n/index.ts";
import { watchLeaving } from "./state/leaving.ts";
import { hasScreen } from "./state/offers.ts";
import { watchRoutes } from "./state/route-failure.ts";

interface Target {
  to: string;
  query?: Readonly<Record<string, string>>;
}
interface Move extends Target {
  from: string;
  hash?: string;
  /** Views that the old address named by `?tab=`, where they are elsewhere now. */
  tabs?: Readonly<Record<string, Target>>;
}

/**
 * Addresses of earlier versions: what follows the old path, the query and the hash are kept. A query that is named here is added. Its target exists:
 * `test/ui/addresses.test.ts` opens each.
 */
export const MOVED: readonly Move[] = [
  { from: "/feedback", to: "/help/feedback" },
  { from: "/search", to: "/sessions", hash: "#search" },
  { from: "/notes", to: "/sessions", query: { view: "notes" } },
  { from: "/calls", to: "/sessions", query: { view: "calls" } },
  { from: "/shares", to: "/sessions", query: { view: "shares" } },
  { from: "/rescue", to: "/sessions", query: { view: "hidden" } },
  {
    from: "/security",
    to: "/tools/secrets",
    tabs: {
      rules: { to: "/tools/advanced", query: { view: "rules" } },
      guard: { to: "/tools/secrets", query: { view: "guard" } },
      calls: { to: "/tools/secrets", query: { view: "guard" } },
      history: { to: "/tools/secrets", query: { view: "guard" } },
    },
  },
  {
    from: "/mcp-hub",
    to: "/tools/servers",
    tabs: {
      tools: { to: "/tools/advanced", query: { view: "try" } },
      calls: { to: "/tools/advanced", query: { view: "calls" } },
      log: { to: "/tools/advanced", query: { view: "log" } },
      takeover: { to: "/tools/advanced", query: { view: "takeover" } },
    },
  },
  { from: "/skills", to: "/tools/skills" },
];

const redirects: RouteRecordRaw[] = MOVED.map(({ from, tabs, hash: lands = "", ...whole }) => ({
  path: `${from}/:rest(.*)*`,
  redirect: ({ path, query: { tab, ...others }, hash }) => {
    const { to, query } = (typeof tab === "string" && tabs?.[tab]) || whole;
    const kept = tabs || tab === undefined ? others : { ...others, tab };
    return { path: to + path.slice(from.length), query: { ...kept, ...query }, hash: hash || lands };
  },
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
  { path: "/files", name: "files", component: () => import("./features/undelete/files.vue") },
  { path: "/compare", name: "compare", component: () => import("./features/sessions/compare.vue") },
  { path: "/usage", name: "usage", component: () => import("./features/usage/usage.vue") },
  { path: "/import", name: "import", component: () => import("./features/import/import.vue") },
  { path: "/tools", redirect: (old) => ({ path: "/tools/secrets", query: old.query }) },
  { path: "/tools/secrets", name: "secrets", component: () => import("./features/security/secrets.vue") },
  { path: "/tools/servers", name: "servers", component: () => import("./features/hub/servers.vue") },
  { path: "/tools/skills", name: "skills", component: () => import("./features/skills/skills.vue") },
  { path: "/tools/skills/scan", name: "skills-scan", component: () => import("./features/skills/skills-scan.vue") },
  { path: "/tools/skills/:id", name: "skill", component: () => import("./features/skills/skill.vue"), props: true },
  { path: "/tools/advanced", name: "tools-advanced", component: () => import("./features/advanced/advanced.vue") },
  { path: "/help/feedback", name: "feedback", component: () => import("./features/feedback/feedback.vue") },
  { path: "/help/:page(.*)?", name: "help", component: () => import("./features/help/help.vue"), props: true },
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
    routes: [...redirects, ...routes].filter(hasScreen),
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
  });
  router.beforeResolve(wordsReady);
  watchLeaving(router);
  watchRoutes(router);
  return router;
}
