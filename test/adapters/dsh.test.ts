/** DeepSeek Harness's compressed log: a frame per batch of events. */
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import dsh from "sessarc/plugins/dsh";
import { expect, it, onTestFinished } from "vitest";
import { drain, drainTail, scanAll } from "../adapter/bench.ts";

const plain = fileURLToPath(
  new URL(
    "../fixtures/dsh/sessions/--home-ana-shop--/session-0199e000-0000-7000-8000-000000000001/session.jsonl",
    import.meta.url,
  ),
);

/** A zstandard frame of one raw block of less than 128 KB. */
function toFrame(text: string): Buffer {
  const content = Buffer.from(text);
  const size = (content.length << 3) | 1;
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, size & 255, (size >> 8) & 255, (size >> 16) & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

it("follows a compressed log frame by frame and repeats no message", async () => {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-dsh-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const lines = (await readFile(plain, "utf8")).split(/(?<=\n)/);
  const path = join(dir, "sessions", "--home-ana-shop--", "session-1", "session.jsonl.zstd");
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, toFrame(lines[0] ?? ""));

  const { adapter } = dsh({ dir });
  const env = { home: dir, platform: process.platform, env: {} };
  const [ref] = await scanAll(adapter, env);
  if (!ref) throw new Error("the compressed log is not found");
  let tail = await drainTail(adapter.tail(ref, undefined, env));
  const events = [...tail.events];
  for (const line of lines.slice(1)) {
    await appendFile(path, toFrame(line));
    tail = await drainTail(adapter.tail(ref, tail.cursor, env));
    expect(tail.restarted).toBe(false);
    events.push(...tail.events);
  }
  const whole = await drain(adapter.read({ ...ref, path: plain }, env));
  expect(events).toEqual(whole.events);
  expect(tail.summary.usage).toEqual(whole.summary.usage);

  await writeFile(path, toFrame(lines.join("")));
  const replaced = await drainTail(adapter.tail(ref, tail.cursor, env));
  expect(replaced.restarted).toBe(true);
  expect(replaced.events).toEqual(whole.events);
});
