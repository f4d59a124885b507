/** The value of a secret that the inbox names. It stays in the process. */
import { isSessarcError, type Kernel, type PoolTask, type SessionEvent } from "sessarc";

const VALUE: PoolTask<[SessionEvent, string], string | undefined> = {
  specifier: "sessarc/plugins/security/secrets/leaks/value",
  export: "valueIn",
  inline: async (event, id) => (await import("./value.ts")).valueIn(event, id),
};

/** Places that are tried. */
const MOST = 20;

/** Undefined where no archived message holds it any more. */
export async function readValue(kernel: Kernel, id: string): Promise<string | undefined> {
  const places = await kernel.storage.db.all<{ session: string; seq: number }>(
    `select session, seq from security_leak where fingerprint = ? order by last_at desc, session, seq limit ${MOST}`,
    [id],
  );
  const archive = kernel.inject("archive");
  for (const { session, seq } of places) {
    const value = await readIn(session, seq).catch((error: unknown) => {
      // A session that is gone or damaged.
      if (!isSessarcError(error)) throw error;
      return undefined;
    });
    if (value !== undefined) return value;
  }
  return undefined;

  async function readIn(session: string, seq: number): Promise<string | undefined> {
    for await (const events of archive.events(await archive.get(session), seq)) {
      const event = events.find((one) => one.seq === seq);
      return event && kernel.pool.run(VALUE, event, id);
    }
    return undefined;
  }
}
