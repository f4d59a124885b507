/** What needs no build first, while the package is built; then the longest, so that at the end no core waits for another one's long file. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "./build-once.ts";

/** Files and folders below test/, in order; others keep the order that vitest gives them: how long they took last time. */
const FIRST = [
  // A minute of two cores without anything of dist/.
  "git/",
  "skills/",
  "share/drivers",
  "security/guard-rows",
  "security/guard-hook",
  "security/scrub-crash",
  "adapters/",
  // The longest.
  "team/machines",
  "team/receipts",
  "team/hostile-server",
  "team/kills",
  "ui/screens",
  "ui/overlays",
  "cli/process",
  "day/day",
  "door/create",
  "ui/",
  "share/page",
  "mcp-hub/conformance",
  "door/",
  "dist",
  "mcp-hub/takeover-crash",
  "mcp-hub/servers",
  "archive/cancel",
  "storage/durability",
  "storage/crash-states",
  "archive/copies",
  "daily/",
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
