/** A screen whose parts could not be loaded: told where the screens stand, tried again when the service answers. Never a dead page. */
import { shallowRef, watch } from "vue";
import type { RouteLocationNormalized, Router } from "vue-router";
import { useService } from "./service.ts";
import { readStored, writeStored } from "./settings.ts";

export const routeFailure = shallowRef<{ to: string; isLost: boolean }>();

const RELOADED = "sessarc:reloaded";
const isChunk = (error: unknown) =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

async function answers(): Promise<boolean> {
  return fetch("/api/status", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

export function watchRoutes(router: Router): void {
  const service = useService();
  const failed = async (error: unknown, to: RouteLocationNormalized) => {
    if (!isChunk(error)) return;
    const isLost = !(await answers());
    // A chunk of an older build is gone after an update: reload the page once, and only from a service that answers.
    if (!isLost && readStored(RELOADED, "", "sessionStorage") !== to.fullPath) {
      writeStored(RELOADED, to.fullPath, "sessionStorage");
      location.assign(to.fullPath);
      return;
    }
    routeFailure.value = { to: to.fullPath, isLost };
    if (!isLost) return;
    // Whether it is lost is otherwise known only with the next poll.
    await service.retry();
    if (!service.lost.value) retryRoute(router);
  };
  router.onError((error: unknown, to) => void failed(error, to));
  router.afterEach((_to, _from, failure) => {
    if (failure) return;
    writeStored(RELOADED, undefined, "sessionStorage");
    routeFailure.value = undefined;
  });
  watch(service.lost, (isLost) => {
    if (!isLost) retryRoute(router);
  });
}

export function retryRoute(router: Router): void {
  const { to } = routeFailure.value ?? {};
  if (to !== undefined) void router.push(to).catch(() => {});
}
