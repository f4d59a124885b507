/** A withdrawal that ends after its rows are gone: the next one finishes it and answers the receipt. */
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, joinOwner, type Machine, makeSession, startServer } from "./node.ts";
import { engines } from "./postgres.ts";

/** Removing the `nth` file of the server's bodies fails. */
function failRemoval(folder: string, nth: number): { failed(): boolean; restore(): void } {
  const { unlink, rm } = promises;
  let count = 0;
  const broken =
    <A extends unknown[], R>(original: (path: string, ...rest: A) => Promise<R>) =>
    async (path: string, ...rest: A): Promise<R> => {
      if (String(path).startsWith(folder) && ++count === nth) throw Object.assign(new Error("cut"), { code: "EIO" });
      return original(path, ...rest);
    };
  Reflect.set(promises, "unlink", broken(unlink));
  Reflect.set(promises, "rm", broken(rm));
  syncBuiltinESMExports();
  return {
    failed: () => count >= nth,
    restore() {
      Object.assign(promises, { unlink, rm });
      syncBuiltinESMExports();
    },
  };
}

interface Receipt {
  removed: { id: string; digest: string; at: string }[];
  receipt: string;
}

describe.each(engines())("a withdrawal on $name", (engine) => {
  it("that was interrupted is finished by the next one, with the same receipt", async () => {
    const server = await startServer(engine);
    onTestFinished(() => server.close());
    const owner: Machine = await joinOwner(server);
    const withdraw = (id: string): Promise<Answer<Receipt>> =>
      owner.ask<Receipt>("POST", "/team/api/withdraw", { ids: [id, "codex:never"] });
    let interrupted = 0;
    for (let nth = 1; ; nth++) {
      const one = makeSession({ id: `codex:w${nth}`, texts: [`the quokka ${nth}`], replies: [[nth, 10]] });
      const agent = makeSession({ id: `codex:w${nth}-agent`, texts: [`its joey ${nth}`], parent: `w${nth}` });
      await owner.push(one);
      await owner.push(agent);
      const removal = failRemoval(server.folder, nth);
      const first = await withdraw(`codex:w${nth}`);
      const isCut = removal.failed();
      removal.restore();
      if (first.status !== 200) {
        interrupted++;
        // Its rows are gone, or it will be finished whole.
        const second = await withdraw(`codex:w${nth}`);
        expect(second.status, JSON.stringify(second.body)).toBe(200);
        first.body = second.body;
      }
      expect(first.body.removed.map(({ id, digest }) => [id, digest])).toEqual([
        [one.manifest.id, one.digest],
        [agent.manifest.id, agent.digest],
      ]);
      const again = await withdraw(`codex:w${nth}`);
      expect(again.body.removed).toEqual(first.body.removed);
      for (const { manifest, chunks } of [one, agent]) {
        const id = manifest.id.replace(":", `:${owner.machine}~`);
        expect(await server.everywhere(id)).toEqual(["team_change", "team_withdrawn", "tombstone"]);
        for (const sha256 of chunks.keys()) expect(await server.blob(sha256)).toBe(false);
        expect(await server.transcripts(id)).toBe(0);
      }
      if (!isCut) break;
    }
    expect(interrupted).toBeGreaterThan(2);
  });
});
