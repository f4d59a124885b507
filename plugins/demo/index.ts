import { definePlugin } from "sessarc";
import { demoCommand } from "./command.ts";
import type { Send } from "./setup/fill.ts";
import type { Demo, DemoOptions } from "./write.ts";

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

export default definePlugin({ name: "demo", commands: [demoCommand] });
