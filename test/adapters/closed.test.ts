/** However a reading ends, the log is closed: a service that runs for weeks would use up its descriptors. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import { describe, expect, it } from "vitest";
import { tailLog } from "../../core/adapter/tail-log.ts";
import { importOne } from "../../plugins/archive/import/read.ts";
import claude from "../../plugins/claude-code/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import { createReader } from "../../plugins/live/log.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, testEnv } from "../kernel.ts";
import { openFiles } from "../open-files.ts";

const row = (n: number) =>
  `${JSON.stringify({ type: "user", uuid: `u${n}`, timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: `text ${n}` } })}\n`;

describe.skipIf(process.platform !== "linux")("closes the log", () => {
  it("when an import stops in the middle of one that is read message by message", async () => {
    const home = await makeTempDir();
    const path = join(home, "chat.txt");
    writeFileSync(path, "user:\nhello\n\nassistant:\nhi\n\n".repeat(20_000));
    const { adapter } = cursor();
    const batches = adapter.read({ tool: "cursor", key: "k", path, exclusive: true }, testEnv(home));
    await batches.next();
    expect(openFiles(path)).toBe(1);
    await batches.return(undefined as never);
    await expect.poll(() => openFiles(path)).toBe(0);
  });

  it("when the consumer of the messages fails", async () => {
    const t = await createTestKernel();
    const path = join(t.home, "aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    writeFileSync(path, row(0) + row(1));
    const { adapter } = claude();
    const ref: SessionRef = { tool: "claude-code", key: "aaaaaaaa-0000-4000-8000-000000000001", path, exclusive: true };
    const fail = () => {
      throw new Error("taken by nobody");
    };
    const followed = createReader(adapter, t.env).read(ref, { restart: () => {}, events: fail });
    await expect(followed).rejects.toThrow("taken by nobody");
    expect(openFiles(path)).toBe(0);

    const session = { id: "claude-code:k", ref, generation: 1, past: null, stored: [], states: {} };
    const source = { batches: adapter.read(ref, t.env), past: null };
    const odd = { ...adapter, skills: { dirs: () => [], used: fail } };
    await expect(importOne(session, odd, source, t.kernel.storage.transcripts, new Int32Array(1), [])).rejects.toThrow(
      "taken by nobody",
    );
    expect(openFiles(path)).toBe(0);
  });

  it("when its reader cannot go on from where it was", async () => {
    const path = join(await makeTempDir(), "log.jsonl");
    writeFileSync(path, row(0));
    const followed = tailLog({ path }, undefined, () => {
      throw new Error("of another version");
    }).next();
    await expect(followed).rejects.toThrow("of another version");
    expect(openFiles(path)).toBe(0);
  });
});
