/** Takes a step back, or puts back what one left that never ended. */

import type { Delta } from "../sandbox/index-file.ts";
import { type ReadObject, restore } from "../sandbox/restore.ts";
import { isProjectFile, type Sandbox, undoSinceLook } from "../sandbox/sandbox.ts";
import type { ReplayStore, StepRow } from "../store.ts";

interface Context {
  store: ReplayStore;
  sandbox: Sandbox;
  readObject: ReadObject;
}

/** Returns the paths that were restored. The row is removed last: after a kill in between, the next call restores again. */
export async function takeBack({ store, sandbox, readObject }: Context, row: StepRow): Promise<string[]> {
  const delta = JSON.parse(row.delta) as Delta[];
  if (row.state !== "running") await store.putStep({ ...row, state: "running" });
  // A command that never ended has not said what it changed: the look just before it did.
  if (row.state === "running" && row.changed === COMMAND_RUNS) await undoSinceLook(sandbox, readObject);
  else await restore(sandbox.whole, sandbox.blobs, readObject, delta);
  await store.dropStep(row.session_id, row.step);
  return delta.map(({ path }) => path).filter(isProjectFile);
}

/** In `changed` of a row whose command is running. */
export const COMMAND_RUNS = '"?"';
