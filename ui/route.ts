import { createRouter, createWebHistory, type RouteRecordRaw, type Router } from "vue-router";
import { wordsReady } from "./i18n/words.ts";
import { watchLeaving } from "./state/leaving.ts";
import { hasScreen } from "./state/offers.ts";
import { watchRoutes } from "./state/route-failure.ts";

const home = () => import("./pages/home.vue");

const routes: RouteRecordRaw[] = [
  { path: "/", name: "home", component: home },
  { path: "/projects", name: "projects", component: () => import("./pages/projects.vue") },
  { path: "/projects/:id", name: "project", component: () => import("./pages/project.vue"), props: true },
  { path: "/sessions", name: "sessions", component: () => import("./pages/sessions.vue") },
  { path: "/compare", name: "compare", component: () => import("./pages/compare.vue") },
  { path: "/calls", name: "calls", component: () => import("./pages/calls.vue") },
  {
    path: "/sessions/:id",
    name: "session",
    component: () => import("./pages/session.vue"),
    props: true,
    meta: { wide: true },
  },
  { path: "/notes", name: "notes", component: () => import("./pages/notes.vue") },
  { path: "/usage", name: "usage", component: () => import("./pages/usage.vue") },
  { path: "/search", name: "search", component: () => import("./pages/search.vue"), meta: { wide: true } },
  { path: "/import", name: "import", component: () => import("./pages/import.vue") },
  { path: "/security", name: "security", component: () => import("./pages/security.vue") },
  { path: "/rescue", name: "rescue", component: () => import("./pages/rescue.vue") },
  { path: "/shares", name: "shares", component: () => import("./pages/shares.vue") },
  { path: "/help/:page(.*)?", name: "help", component: () => import("./pages/help.vue"), props: true },
  { path: "/feedback", name: "feedback", component: () => import("./pages/feedback.vue") },
  { path: "/skills", name: "skills", component: () => import("./pages/skills.vue") },
  { path: "/skills/scan", name: "skills-scan", component: () => import("./pages/skills-scan.vue") },
  { path: "/skills/:id", name: "skill", component: () => import("./pages/skill.vue"), props: true },
  { path: "/mcp-hub", name: "mcp-hub", component: () => import("./pages/mcp-hub.vue") },
  { path: "/replay/:id?", name: "replay", component: () => import("./pages/replay.vue"), props: true },
  { path: "/settings/:section?", name: "settings", component: () => import("./pages/settings.vue"), props: true },
  { path: "/:rest(.*)*", name: "not-found", component: () => import("./pages/not-found.vue") },
];

export function createAppRouter(): Router {
  // On its way while plugins load.
  if (location.pathname === "/") void home();
  const router = createRouter({
    history: createWebHistory(),
    routes: routes.filter(hasScreen),
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
  });
  router.beforeResolve(wordsReady);
  watchLeaving(router);
  watchRoutes(router);
  return router;
}
