/** The service `rescue`. */
import { type Kernel, type SqlValue, unknownAssistant } from "sessarc";
import type { Keeper, StoredLogs } from "./keep/keeper.ts";
import { type LogFile, listLogFiles } from "./log-files.ts";
import { type RescueOverview, readOverview } from "./overview.ts";
import { createReclaim, type Reclaim } from "./reclaim/reclaim.ts";
import { createRestorer, type Restorer } from "./restore/rescue.ts";
import { type GoneFolder, readGoneFolders } from "./state/folders.ts";
import { changeRetention, type RetentionChange } from "./state/retention.ts";
import type { SessionState, States } from "./state/states.ts";

export interface Rescue extends Restorer {
  /** Removes old logs at their assistants, and puts them back. */
  readonly reclaim: Reclaim;
  /** Part of a question about sessions: those in a state. */
  condition(state: SessionState): Promise<{ sql: string; params: readonly SqlValue[]; revision: number }>;
  of: States["of"];
  overview(): Promise<RescueOverview>;
  /** Folders of sessions that are not there, the one of the newest session first. */
  goneFolders(): Promise<GoneFolder[]>;
  /** What is stored, within which budget. */
  stored(): Promise<StoredLogs>;
  /** Stores what is behind. */
  store(ids?: readonly string[]): Promise<void>;
  /** Sessions whose log is stored. */
  storedOf(ids: readonly string[]): Promise<Set<string>>;
  /** Files of a session's log: the stored ones, else those at the assistant. Empty where neither is there. */
  logFiles(id: string): Promise<LogFile[]>;
  /** Removes every stored log; answers the bytes that gave back. Throws LOGS_RECLAIMED. */
  dropLogs(): Promise<number>;
  /** Lets an assistant retain its logs for `days`. Throws RETENTION_FIXED. */
  retain(tool: string, days: number, write: boolean): Promise<RetentionChange>;
}

export function createRescue(kernel: Kernel, keeper: Keeper, states: States): Rescue {
  const restorer = createRestorer(kernel, keeper);
  const reclaim = createReclaim(kernel, keeper, restorer);
  return {
    ...restorer,
    reclaim,
    async condition(state) {
      return { ...(await states.condition(state)), revision: keeper.revision };
    },
    of: (ids) => states.of(ids),
    overview: () => readOverview(kernel, keeper, states),
    goneFolders: () => readGoneFolders(kernel, states),
    stored: () => keeper.room(),
    store: (ids) => keeper.run(ids),
    async storedOf(ids) {
      const rows = await kernel.storage.db.all<{ id: string }>(
        "select session as id from rescue_log where files is not null and session in (select value from json_each(?))",
        [JSON.stringify(ids)],
      );
      return new Set(rows.map(({ id }) => id));
    },
    logFiles: (id) => listLogFiles(kernel, keeper, id),
    async dropLogs() {
      await reclaim.checkNone();
      return keeper.sweep(true);
    },
    async retain(tool, days, write) {
      const adapter = kernel.registry.adapters.get(tool);
      if (!adapter) throw unknownAssistant(tool, kernel.registry.adapters.keys());
      return changeRetention(kernel, adapter, days, write);
    },
  };
}
