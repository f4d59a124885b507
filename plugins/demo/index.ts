import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import { demoCommand } from "./command.ts";
import "./errors.ts";
import type { Sample } from "./sample.ts";
import type { Send } from "./setup/fill.ts";
import type { Demo, DemoOptions } from "./write.ts";

export type { Sample } from "./sample.ts";
export type { Demo, DemoOptions, Send };

/** Writes the sample logs into `options.home`. The stories are loaded now and not with the plugin: every start would pay for them. */
export async function writeDemo(options: DemoOptions): Promise<Demo> {
  const write = await import("./write.ts");
  return write.writeDemo(options);
}

/** Does in a service over the sample home (`setup`) what its screens show more of than logs: a skill taken in and linked. */
export async function fillDemo(send: Send): Promise<void> {
  const { fillSkills } = await import("./setup/fill.ts");
  await fillSkills(send);
}

export const routes = [
  defineRoute({
    method: "POST",
    path: "/sample",
    summary: "Starts a second service over sample data, or returns the address of the one that runs",
    handler: ({ kernel }) => kernel.inject("sample").start(),
  }),
  defineRoute({
    method: "DELETE",
    path: "/sample",
    summary: "Ends the service over sample data and removes that",
    handler: ({ kernel }) => kernel.inject("sample").end(),
  }),
] as const;

export default definePlugin({
  name: "demo",
  routes,
  commands: [demoCommand],
  setup(kernel) {
    let made: Promise<Sample> | undefined;
    /** Few services ever start one. */
    const sample = () => {
      made ??= import("./sample.ts").then(({ createSample }) => createSample(kernel));
      return made;
    };
    kernel.provide("sample", {
      start: async () => (await sample()).start(),
      end: async () => (await sample()).end(),
    });
    kernel.onClose(async () => {
      if (made) await (await made).end();
    });
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    sample: Sample;
  }
}
