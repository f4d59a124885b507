/** Whether a server may parse a redacted log again: only one that says what the log itself does. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { canonicalJson, type Kernel, type SessionEvent, type SessionRef, type SessionSummary } from "sessarc";
import { figuresText, ledgerReplies, logLines, readCopy, toOutside } from "../portable/log.ts";
import type { LoadChunk } from "../portable/read.ts";
import { replyLines } from "../portable/replies.ts";
import type { ManifestLog, PortableSummary } from "../types.ts";
import type { Candidate } from "./store.ts";

interface CopiedLog {
  /** The file's name as it leaves. */
  name: string;
  /** Pieces of the redacted log. */
  raw: readonly string[];
  load: LoadChunk;
  /** Where no log is: the copy is read as on a server, without what is beside the log. */
  folder: string;
  /** The session as the archive has it, and as it leaves. */
  said: SessionSummary;
  shown: PortableSummary;
}

/**
 * Reads the log and its redacted copy by the same adapter. Null where replies, figures, ids or the order of messages differ: the name of a reply is
 * made of what the log says, so a server that parsed such a copy would count replies twice. A log that grew meanwhile differs, too; it is pushed
 * again when it was imported.
 */
export async function readableLog(kernel: Kernel, one: Candidate, copied: CopiedLog): Promise<ManifestLog | null> {
  const archive = kernel.inject("archive");
  const adapter = archive.adapter(one.tool);
  if (!adapter?.parseLines || !adapter.appends({ path: one.source_path })) return null;
  const { name, raw, load, folder, said, shown } = copied;
  const { env } = kernel;
  const toKey = (id: string | null) => (id === null ? {} : { parent: id.slice(one.tool.length + 1) });
  const ref = (path: string, parent: Pick<SessionRef, "parent">): SessionRef => ({
    tool: one.tool,
    key: one.key,
    path,
    ...parent,
  });
  const parent = shown.parent === undefined ? {} : { parent: shown.parent };
  let original: Reading;
  let copy: Reading;
  try {
    original = await readReading(adapter.read(ref(one.source_path, toKey(one.parent_id)), env));
    copy = await readReading(readCopy(adapter, ref(join(folder, "log", name), parent), logLines(raw, load), env));
  } catch {
    return null; // a log that its own adapter cannot read is not to be read elsewhere
  }
  const [figures, figuresOfCopy] = [original, copy].map(({ summary }) => figuresText(one.tool, summary));
  if (figures !== figuresOfCopy || original.outline !== copy.outline) return null;
  const info = kernel.registry.describe().find((plugin) => plugin.adapter === one.tool);
  const stored = await readHash(archive.events(await archive.get(one.id)));
  const isCurrent = stored === original.messages && sameReplies(one.tool, original.summary, said);
  return {
    name,
    version: (isCurrent && info?.version) || "",
    outside: toOutside(copy.summary, shown),
  };
}

interface Reading {
  summary: SessionSummary;
  /** Hash of all messages. */
  messages: string;
  /** The same without texts, which redaction may change. */
  outline: string;
}

async function readReading(batches: AsyncGenerator<SessionEvent[], SessionSummary>): Promise<Reading> {
  const messages = createHash("sha256");
  const outline = createHash("sha256");
  for (;;) {
    const step = await batches.next();
    if (step.done) return { summary: step.value, messages: messages.digest("hex"), outline: outline.digest("hex") };
    for (const event of step.value) {
      const { text: _, tool_input, ...rest } = event;
      messages.update(canonicalJson(event));
      outline.update(canonicalJson([rest, typeof tool_input]));
    }
  }
}

async function readHash(batches: AsyncIterable<readonly SessionEvent[]>): Promise<string> {
  const hash = createHash("sha256");
  for await (const events of batches) for (const event of events) hash.update(canonicalJson(event));
  return hash.digest("hex");
}

/** Whether the archive counts the replies and tokens that the log has. */
function sameReplies(tool: string, log: SessionSummary, archived: SessionSummary): boolean {
  const lines = (replies: SessionSummary["replies"]) => [...replyLines(replies ?? [])].sort().join("\n");
  return (
    lines(ledgerReplies(tool, log)) === lines(archived.replies) &&
    canonicalJson(withTokens(log)) === canonicalJson(withTokens(archived))
  );
}

const withTokens = ({ usage }: SessionSummary) =>
  Object.fromEntries(Object.entries(usage).filter(([, tokens]) => Object.values(tokens).some((count) => count > 0)));
