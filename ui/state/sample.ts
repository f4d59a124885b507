/** Sample data: a second service over a throw-away folder, which this page leads to, and which leads back. */
import type { Router } from "vue-router";
import { api } from "../client.ts";
import { t } from "../i18n/index.ts";
import { failed, toast } from "./toast.ts";

/** In the address of the own service: this visit comes back from the sample. */
const BACK = "back-from-sample";

export const toOwn = (of: string): string => `${of}?${BACK}=1`;

/** Starts the sample service and goes there. */
export async function showSample(): Promise<void> {
  try {
    const { url } = await api("POST /sample", {});
    location.assign(url);
  } catch (error) {
    failed(error);
  }
}

/** Ends the sample service that one comes back from. */
export async function endSample(router: Router): Promise<void> {
  await router.isReady();
  const { [BACK]: isBack, ...query } = router.currentRoute.value.query;
  if (isBack === undefined) return;
  await router.replace({ query });
  try {
    const { ended } = await api("DELETE /sample", {});
    if (ended) toast(t("sample.removed"));
  } catch (error) {
    failed(error);
  }
}
