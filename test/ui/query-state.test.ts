/** State in the address, without a browser: what a screen writes that is being left, or was. */
import { expect, it } from "vitest";
import { createApp, effectScope } from "vue";
import { createMemoryHistory, createRouter } from "vue-router";
import { watchLeaving } from "../../ui/state/leaving.ts";
import { useQueryState, useWriteQuery } from "../../ui/state/query-state.ts";

const Empty = { render: () => null };

async function stand(path: string) {
  let arrive: (screen: typeof Empty) => void = () => {};
  const chunk = new Promise<typeof Empty>((resolve) => {
    arrive = resolve;
  });
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: "/search", component: Empty },
      { path: "/slow", component: () => chunk },
      { path: "/broken", component: () => Promise.reject(new Error("no chunk")) },
    ],
  });
  watchLeaving(router);
  router.onError(() => {});
  await router.push(path);
  const app = createApp(Empty).use(router);
  const turn = () => new Promise(setImmediate);
  const written = async (values: Record<string, string>) => {
    app.runWithContext(useWriteQuery)(values, true);
    await turn();
  };
  return { router, app, arrive: () => arrive(Empty), written, turn };
}

it("a screen that is being left does not call the reader back", async () => {
  const { router, arrive, written, turn } = await stand("/search");
  const gone = router.push("/slow");
  await turn();
  await written({ q: "late" });
  arrive();
  await gone;
  expect(router.currentRoute.value.fullPath).toBe("/slow");
});

it("a screen that could not be left writes again", async () => {
  const { router, written } = await stand("/search");
  await router.push("/broken").catch(() => {});
  await written({ q: "tide" });
  expect(router.currentRoute.value.fullPath).toBe("/search?q=tide");
});

it("what comes late from a screen that was left does not reach the address of the next", async () => {
  const { router, app, arrive, turn } = await stand("/search");
  const scope = effectScope();
  const q = app.runWithContext(() => scope.run(() => useQueryState("q", "")));
  if (!q) throw new Error("No scope");
  q.value = "tide";
  await turn();
  expect(q.value).toBe("tide");
  arrive();
  await router.push("/slow");
  scope.stop();
  q.value = "late";
  await turn();
  expect(router.currentRoute.value.fullPath).toBe("/slow");
});
