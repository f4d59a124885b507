import { definePlugin } from "sessarc";
import { demoCommand } from "./command.ts";

export { type Demo, type DemoOptions, writeDemo } from "./write.ts";

export default definePlugin({ name: "demo", commands: [demoCommand] });
