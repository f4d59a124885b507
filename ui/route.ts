import { createRouter, createWebHistory, type RouteRecordRaw, type Router } from "vue-router";
import { wordsReady } from "./i18n/words.ts";

const home = () => import("./pages/home.vue");

export const routes: RouteRecordRaw[] = [
  { path: "/", name: "home", component: home },
  { path: "/projects", name: "projects", component: () => import("./pages/projects.vue") },
  { path: "/projects/:id", name: "project", component: () => import("./pages/project.vue"), props: true },
  {
    path: "/sessions/:id",
    name: "session",
    component: () => import("./pages/session.vue"),
    props: true,
    meta: { wide: true },
  },
  { path: "/search", name: "search", component: () => import("./pages/search.vue"), meta: { wide: true } },
  { path: "/import", name: "import", component: () => import("./pages/import.vue") },
  { path: "/skills", name: "skills", component: () => import("./pages/skills.vue") },
  { path: "/skills/scan", name: "skills-scan", component: () => import("./pages/skills-scan.vue") },
  { path: "/skills/:id", name: "skill", component: () => import("./pages/skill.vue"), props: true },
  { path: "/replay/:id?", name: "replay", component: () => import("./pages/replay.vue"), props: true },
  { path: "/settings/:section?", name: "settings", component: () => import("./pages/settings.vue"), props: true },
  { path: "/:rest(.*)*", name: "not-found", component: () => import("./pages/not-found.vue") },
];

export function createAppRouter(): Router {
  // On its way while plugins load.
  if (location.pathname === "/") void home();
  const router = createRouter({
    history: createWebHistory(),
    routes,
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
  });
  // A chunk of an older build is gone after an update: load the page anew, once.
  router.onError((error: unknown, to) => {
    if (
      error instanceof Error &&
      /dynamically imported module|module script/.test(error.message) &&
      !sessionStorage.getItem("reloaded")
    ) {
      sessionStorage.setItem("reloaded", "1");
      location.assign(to.fullPath);
    }
  });
  router.beforeResolve(wordsReady);
  router.afterEach(() => sessionStorage.removeItem("reloaded"));
  return router;
}
