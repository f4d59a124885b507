/** Aider's history: a heading begins a chat, `####` a prompt, `>` what Aider itself says; the rest is the answer. */
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { EventKind, SessionRef, SessionSummary } from "sessarc";
import {
  createSessionLog,
  type FoundLog,
  findLogs,
  type NewEvent,
  type OpenLog,
  rememberByFile,
  textBeside,
  withoutCache,
  withUniqueKeys,
} from "sessarc/adapter";
import { readRegular } from "sessarc/files";

type NewRef = Omit<SessionRef, "tool">;

interface Chat {
  /** Local time, as the heading has it. */
  stamp: string;
  text: string;
}

const HEADING = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \r]*$/gm;

/** Chats in which a prompt was typed: their places in the file, times and lengths. */
const toChats = rememberByFile((path) =>
  split(textBeside(path) ?? "").flatMap(({ stamp, text }, index) =>
    /^#### /m.test(text) ? [{ stamp, index, size: Buffer.byteLength(text) }] : [],
  ),
);

/** `root` is a folder of repositories, or a history. */
export async function* scanHistories(root: string, name: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  const take = (log: Pick<FoundLog, "path" | "size" | "mtime">) => {
    for (const { stamp, index, size } of toChats(log))
      refs.push({ key: `${stamp}#${index}`, path: log.path, size, mtime: log.mtime, version: String(size) });
  };
  const file = await stat(root).catch(() => undefined); // gone, or closed to this user: holds nothing
  if (file?.isFile()) take({ path: root, size: file.size, mtime: file.mtimeMs });
  const wanted = (entry: string) => (entry.endsWith("/") ? !/^(\.|node_modules\/)/.test(entry) : entry === name);
  for await (const log of findLogs(root, wanted, 5)) take(log);
  yield* withUniqueKeys(root, refs);
}

export async function openHistory(path: string): Promise<OpenLog> {
  const chats = split(await readRegular(path));
  const findChat = ({ key }: SessionRef) => chats[Number(/#(\d+)(?:~\w+)?$/.exec(key)?.[1])];
  return {
    version(ref) {
      const chat = findChat(ref);
      return chat && String(Buffer.byteLength(chat.text));
    },
    *read(ref, onBytes) {
      const chat = findChat(ref);
      if (!chat) return undefined;
      onBytes(Buffer.byteLength(chat.text));
      const { events, summary } = parse(chat, path);
      yield* events;
      return summary;
    },
  };
}

function split(text: string): Chat[] {
  const heads = [...text.matchAll(HEADING)];
  return heads.map(({ 0: heading, 1: stamp = "", index }, n) => ({
    stamp,
    text: text.slice(index + heading.length, heads[n + 1]?.index),
  }));
}

const TOKENS =
  /^Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?, ([\d.,]+[kM]?) received/;

function parse({ stamp, text }: Chat, path: string): { events: NewEvent[]; summary: SessionSummary } {
  const log = createSessionLog({});
  const { facts } = log;
  const at = log.time(stamp.replace(" ", "T"));
  facts.cwd = dirname(path);
  const events: NewEvent[] = [];
  let kind: EventKind = "note";
  let lines: string[] = [];
  const flush = () => {
    const model = kind === "assistant" ? facts.model : undefined;
    events.push(...log.say(kind, lines.join("\n").trim(), model === undefined ? {} : { model }));
    lines = [];
  };
  let replies = 0;
  for (const line of text.split(/\r?\n/)) {
    const [, mark, rest = ""] = /^(####|>)(?: (.*))?$/.exec(line) ?? [];
    const next: EventKind = mark === "####" ? "user" : mark === ">" ? "note" : line === "" ? kind : "assistant";
    if (next !== kind) flush();
    kind = next;
    lines.push(mark === undefined ? line : rest);
    if (mark !== ">") continue;
    facts.model = /^(?:Main model|Model): (\S+)/.exec(rest)?.[1] ?? facts.model;
    const [, sent, written, hit, received] = TOKENS.exec(rest) ?? [];
    if (sent === undefined) continue;
    const [cacheWrite5m, cacheRead] = [countAll(written), countAll(hit)];
    const input = withoutCache(countAll(sent), cacheRead, cacheWrite5m);
    const usage = { input, output: countAll(received), cacheRead, cacheWrite5m };
    log.count({ key: `${basename(facts.cwd)}:${stamp}:${replies++}`, at, model: facts.model ?? "unknown", usage });
  }
  flush();
  return { events, summary: log.summary() };
}

/** `1.2k` is 1200: figures are rounded. */
function countAll(text: string | undefined): number {
  const scale = text?.endsWith("k") ? 1_000 : text?.endsWith("M") ? 1_000_000 : 1;
  return Math.round(Number.parseFloat((text ?? "0").replaceAll(",", "")) * scale);
}
