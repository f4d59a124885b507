/** Stores sessions whose logs were parsed again. */
import { canonicalJson, SessarcError } from "sessarc";
import { toTexts } from "../../portable/read.ts";
import type { Erase } from "./erase.ts";
import type { Jobs } from "./jobs.ts";
import type { ImportKernel, ImportParts } from "./kernel.ts";
import { type PushedManifest, toChunks } from "./manifest-schema.ts";
import { type ReadStored, unclaim } from "./sessions.ts";
import { findText } from "./text.ts";

/** A session that was parsed again. */
export interface Reread {
  id: string;
  /** What it was parsed from: if another push came meanwhile, nothing is stored. */
  digest: string;
  reader: string;
  manifest: PushedManifest;
  /** Of the adapter that parsed it. */
  version: string;
}

/** Characters of a problem. */
const MOST_PROBLEM = 500;

export function createStoreReread(
  { tenant, blobs }: Pick<ImportParts, "tenant" | "blobs">,
  { importing, jobs, stored, erasing }: { importing: ImportKernel; jobs: Jobs; stored: ReadStored; erasing: Erase },
) {
  const { current, kernelFor } = importing;
  const { recount, toRecount } = erasing;

  /** Stores a session that was parsed again, or only that it says the same (`manifest` is the stored one). False: it changed meanwhile. */
  function reread(reread: Reread): Promise<boolean> {
    return new Promise((done, fail) =>
      jobs.add({ person: "", fail, run: async () => done(await storeReread(reread)) }),
    );
  }

  /** Notes that a log could not be parsed again. */
  function noteProblem(id: string, digest: string, version: string, problem: string): Promise<void> {
    return new Promise((done, fail) =>
      jobs.add({
        person: "",
        fail,
        run: async ({ db }) => {
          await db.run(
            "update team_session set tried = ?, problem = ? where tenant = ? and session = ? and digest = ?",
            [version, problem.slice(0, MOST_PROBLEM), tenant, id, digest],
          );
          done();
        },
      }),
    );
  }

  async function storeReread({ id, digest, reader, manifest, version }: Reread): Promise<boolean> {
    const row = (await stored([id])).get(id);
    if (!row || row.digest !== digest || row.reader !== reader) return false;
    const before = JSON.parse(row.manifest) as PushedManifest;
    if (canonicalJson(before) === canonicalJson(manifest)) {
      await importing.db.run(
        "update team_session set reader = ?, tried = '', problem = '' where tenant = ? and session = ?",
        [version, tenant, id],
      );
      return true;
    }
    const used = await kernelFor([{ name: manifest.tool, label: manifest.toolLabel }]);
    await blobs.use(id, toChunks(manifest));
    // Replies that it no longer has count at a session that also has them.
    const counted = before.replies.join() !== manifest.replies.join();
    const write = counted ? await toRecount(used, [id]) : [];
    if (manifest.replies.length === 0) write.push(...unclaim([id]));
    const last = toTexts(manifest).length - 1;
    current.set(id, { machine: row.machine, manifest, digest, text: last, reader: version, write });
    const push = { ...row, manifest };
    await used.storage.db.batch([["update session set format = 0 where id = ?", [id]]]);
    try {
      const report = await used.inject("importer").runFound(findText(used, id, push, last), new Set([id]));
      const [failed] = report.failed;
      if (failed) throw new SessarcError("TEAM_PUSH_FAILED", { id, reason: failed.message });
    } finally {
      current.delete(id);
    }
    await blobs.release(row.person, id, toChunks(manifest));
    if (!counted) return true;
    await recount();
    return true;
  }

  return { reread, noteProblem };
}
