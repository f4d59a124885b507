import type { Command } from "sessarc/terminal";

export const demoCommand: Command = {
  name: "demo",
  summary: "Writes the sample logs of `serve --demo` into a folder",
  usage: "<folder> [--date d]",
  options: { date: { type: "string" } },
  help: { date: "Pretend it is this date (ISO 8601): equal dates give equal files" },
  operands: "folder",
  load: () => import("./run.ts"),
};
