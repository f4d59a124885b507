import type { RouteLocationNormalized, Router } from "vue-router";

/** Where the page is going, while the parts of the screen there are on their way. */
let bound: RouteLocationNormalized | undefined;
export const boundFor = (): RouteLocationNormalized | undefined => bound;

/** A screen that is being left writes nothing: its write would call the navigation back. */
export function watchLeaving(router: Router): void {
  router.beforeEach((to) => {
    bound = to;
  });
  const arrived = (to: RouteLocationNormalized) => {
    if (bound === to) bound = undefined;
  };
  router.afterEach(arrived);
  router.onError((_error, to) => arrived(to));
}
