import "./styles/main.css";
import { PiniaColada } from "@pinia/colada";
import { createPinia } from "pinia";
import { createApp } from "vue";
import App from "./app.vue";
import { wordsReady } from "./i18n/index.ts";
import { loadPlugins } from "./plugin.ts";
import { createAppRouter } from "./route.ts";
import { listenForKeys } from "./state/keys.ts";
import { offers } from "./state/offers.ts";
import { keepSettings, readStored } from "./state/settings.ts";

async function start(): Promise<void> {
  keepSettings();
  // Code is set in it everywhere: asked for now, it is there before the first row and no line wraps again.
  void document.fonts.load('12px "JetBrains Mono Variable"');
  await wordsReady();
  const router = createAppRouter();
  const app = createApp(App);
  app.use(createPinia());
  app.use(PiniaColada, { queryOptions: { staleTime: 2_000, gcTime: 120_000 } });
  app.config.errorHandler = (error) => console.error(error);
  listenForKeys();
  app.use(router);
  app.mount("#app");
  await loadPlugins(router);
  // Last of all. Over plain HTTP a browser has it for this machine alone; without it nothing is lost but the page of a service that is away.
  if (offers("GET /live/turns") && readStored("sessarc:followed", null))
    void import("./features/turns/turns.ts").then((turns) => turns.startTurns(router));
  if (offers("GET /budgets")) void import("./features/usage/budgets.ts").then((budgets) => budgets.startBudgetNews());
  if (!import.meta.hot) await navigator.serviceWorker?.register("/sw.js").catch(() => {});
}

void start();
