/** Imports one text of a session. Each is another version of the log, so the texts of a session are imported sequentially. */
import { type Kernel, SessarcError } from "sessarc";
import type { TeamWriter } from "../../types.ts";
import type { Pushed } from "./adapters.ts";
import type { ImportKernel, ImportParts } from "./kernel.ts";
import type { Push, ReadStored } from "./sessions.ts";
import { createSwitch, reading } from "./switch.ts";

/** A session that is being imported. */
export interface Importing {
  id: string;
  push: Push;
  signal?: AbortSignal | undefined;
  /** Version of the adapter that made its messages, where it is not the manifest's. */
  reader?: string;
}

export const toPushed = ({ push, signal, reader }: Omit<Importing, "id">, text: number): Pushed => ({
  machine: push.machine,
  manifest: push.manifest,
  digest: push.digest,
  text,
  reader: reader ?? push.manifest.log?.version ?? "",
  signal,
});

export function findText(used: Kernel, id: string, { manifest, digest }: Push, text: number) {
  const adapter = used.registry.adapters.get(manifest.tool);
  if (!adapter) return [];
  const key = id.slice(manifest.tool.length + 1);
  // Each text is another version of the log. A path is asked for by the archive; there is no file.
  const ref = { tool: manifest.tool, key, path: id, version: `${digest}/${text}`, born: manifest.born };
  return [{ id, ref, adapter, root: "", stored: "not" as const }];
}

export type ReadBeside = ReturnType<typeof besideReader>;

/** A session is read without the tenant's lock, by a kernel that knows nothing yet, and stored under it. */
export const besideReader =
  ({ database, tenant }: Pick<ImportParts, "database" | "tenant">, importing: ImportKernel, stored: ReadStored) =>
  /** Imports one text. Answers why it could not. */
  async ({ id, push, signal, reader }: Importing, text: number): Promise<unknown> => {
    const change = createSwitch();
    const began = performance.now();
    /** What may not change until it is stored. */
    const readState = async () => {
      const [row, session] = [
        (await stored([id])).get(id),
        await database.owner.get<{ generation: number }>("select generation from session where tenant = ? and id = ?", [
          tenant,
          id,
        ]),
      ];
      return JSON.stringify([row?.space, row?.digest, row?.reader, session?.generation]);
    };
    let writer: TeamWriter | undefined;
    let before = "";
    const pushed: Pushed = {
      ...toPushed({ push, signal, reader }, text),
      whole: async () => {
        writer = await importing.lock();
        change.use(writer.db);
        if ((await readState()) !== before)
          throw new SessarcError("TEAM_BUSY", { ms: Math.round(performance.now() - began) });
      },
    };
    const used = await importing.locked(async ({ db }) => {
      change.use(db);
      before = await readState();
      return importing.open(change.db, (one) => (one === id ? pushed : undefined));
    });
    change.use(reading(database.reader(tenant)));
    try {
      const report = await used.inject("importer").runFound(findText(used, id, push, text), new Set([id]));
      const [failed] = report.failed;
      return failed && (pushed.problem ?? failed.message);
    } catch (error) {
      return pushed.problem ?? error;
    } finally {
      await importing.close(used);
      change.use(undefined);
      await writer?.release();
    }
  };
