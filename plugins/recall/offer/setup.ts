/** The service "offers", whose code is loaded when a hook, an import or a route needs it. */
import type { Kernel } from "sessarc";
import type { Offers } from "./offers.ts";

export function setUpOffers(kernel: Kernel): void {
  let made: Promise<Offers> | undefined;
  const offers = () => {
    made ??= import("./offers.ts").then(({ createOffers }) => createOffers(kernel));
    return made;
  };
  const inService = () => kernel.address !== undefined && !kernel.storage.readOnly;
  kernel.provide("offers", {
    log: async (limit) => (await offers()).log(limit),
    refresh: async () => (await offers()).refresh(),
  });
  kernel.hooks.hook("context:offer", async (moment) => (await offers()).offer(moment));
  kernel.hooks.hook("session:replaced", async ({ id }) => {
    if (inService() && (await kernel.inject("guard").isOffering())) (await offers()).imported(id);
  });
  kernel.hooks.hook("kernel:ready", async () => {
    if (inService() && (await kernel.inject("guard").isOffering())) (await offers()).refresh();
  });
  kernel.onClose(async () => (await made)?.close());
}

/** The service "offers". */
export interface OfferService {
  /** Lines that were offered, newest first. */
  log: Offers["log"];
  /** Rebuilds in the background the answers that are behind their imports. */
  refresh(): Promise<void>;
}
