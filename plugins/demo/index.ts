import { definePlugin } from "sessarc";
import { demoCommand } from "./command.ts";
import type { Demo, DemoOptions } from "./write.ts";

export type { Demo, DemoOptions };

/** Writes the sample logs into `options.home`. The stories are loaded now and not with the plugin: every start would pay for them. */
export async function writeDemo(options: DemoOptions): Promise<Demo> {
  const write = await import("./write.ts");
  return write.writeDemo(options);
}

export default definePlugin({ name: "demo", commands: [demoCommand] });
