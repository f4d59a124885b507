/** The longest files first, so that at the end no core waits for another one's long file. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "./build-once.ts";

/**
 * Files and folders below test/, the longest first; others keep the
 * order that vitest gives them: how long they took last time.
 */
const FIRST = [
  "ui/screens",
  "ui/overlays",
  "ui/",
  "share/page",
  "door/create",
  "cli/process",
  "mcp-hub/conformance",
  "security/guard-hook",
  "door/",
  "dist",
  "skills/crash",
  "mcp-hub/takeover-crash",
  "git/history",
  "archive/cancel",
  "storage/durability",
];

export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(`${ROOT}test`, moduleId);
      const at = FIRST.findIndex((start) => path.startsWith(start));
      return at < 0 ? FIRST.length : at;
    };
    const usual = await super.sort(files);
    return usual.sort((a, b) => rank(a) - rank(b));
  }
}
