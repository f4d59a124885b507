/**
 * A session for another machine: its messages and its log, redacted, in files that are named by their content. Read twice, so that
 * memory does not grow with the session: first everything is learned, then everything is written. Equal text becomes equal text in every
 * session and on every machine, so a copy is still recognized.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { isJson, type Json, type SessionEvent } from "sessarc";
import { scanLines } from "sessarc/adapter";
import { createPieces, type Piece } from "sessarc/files";
import { createRedactor, type Redactor, type Rule, type Scanner } from "../secrets/engine.ts";
import { NOT_CHECKED } from "../secrets/redact/not-checked.ts";
import { listLeaves, listStrings } from "../secrets/scan/event.ts";
import { cleanEvent, cleanTree } from "./clean.ts";
import { createHomes } from "./homes.ts";
import { tell, type Watch } from "./watch.ts";

export interface PiecesRequest<Source> {
  /** Messages of each text of the session, oldest first. */
  texts: readonly Source[];
  /** Titles and names. */
  head: Json;
  /** Names of sessions: one that holds a secret, a path or the user's name is replaced by its hash, everywhere by the same. */
  keys: readonly string[];
  /**
   * The log, where it is one file: JSON lines, or one JSON document. Written as lines `[offset, row]`: some assistants' replies are named by
   * the byte at which their row begins.
   */
  raw: string | null;
  /** Written here as `<SHA-256>.gz`; made when it is missing. */
  folder: string;
}

export interface PiecesJob<Source> extends PiecesRequest<Source> {
  rules: Rule[];
  home: string;
  /** Words that no key may hold: of this machine and its user. */
  names: readonly string[];
  budgetMs?: number;
  watch?: Watch;
}

interface WrittenPiece {
  sha256: string;
  bytes: number;
  /** Bytes of its file. */
  packed: number;
}

/** A finding that may be none: it is masked, and the user may want to know. */
interface Doubtful {
  ruleId: string;
  rule: string;
  masked: string;
  count: number;
}

export interface WrittenPieces {
  texts: WrittenPiece[][];
  raw: WrittenPiece[];
  head: Json;
  keys: string[];
  messages: number;
  /** Masked places by rule, without the doubtful ones. */
  masked: Record<string, number>;
  doubtful: Doubtful[];
  /** Texts that were left out because they could not be checked in time. */
  unchecked: number;
}

export type PiecesResult = ({ ok: true } & WrittenPieces) | { ok: false; leaks: string[] };

/** Doubtful findings listed of a session. */
const MOST_DOUBTFUL = 100;
const IDENTITY = new Set(["user-name", "host-name", "home-path"]);

/** `read` is called twice for each text. */
export async function writePieces<Source>(
  job: PiecesJob<Source>,
  scannerFor: (rules: Rule[]) => Scanner,
  read: (source: Source) => AsyncIterable<SessionEvent[]>,
): Promise<PiecesResult> {
  const homes = createHomes(job.home);
  const scanner = scannerFor(job.rules.map(plainly));
  const doubtful = new Map<string, Doubtful>();
  const redactor = createRedactor(scanner, {
    onEvent: () => tell(job.watch),
    onFinding({ ruleId, rule, confidence, masked }) {
      if (confidence !== "possible" || IDENTITY.has(ruleId)) return;
      const id = `${ruleId}\0${masked}`;
      const known = doubtful.get(id);
      if (known) known.count++;
      else if (doubtful.size < MOST_DOUBTFUL) doubtful.set(id, { ruleId, rule, masked, count: 1 });
    },
    ...(job.budgetMs === undefined ? {} : { budgetMs: job.budgetMs }),
  });
  const readEvents = async function* (source: Source): AsyncGenerator<SessionEvent[]> {
    for await (const batch of read(source)) yield batch.map((event) => homes.event(cleanEvent(event)));
  };
  const head = homes.tree(cleanTree(job.head));
  redactor.learn(head);
  for (const text of job.texts) for await (const window of windows(readEvents(text))) redactor.learnEvents(window);
  await eachRow(job.raw, (row) => redactor.learn(homes.tree(cleanTree(row))));
  const leaks = new Set<string>();
  const check = (values: string) => {
    for (const { ruleId, offset } of redactor.gate(values)) if (!inPlaceholder(values, offset)) leaks.add(ruleId);
  };
  let messages = 0;
  const texts: WrittenPiece[][] = [];
  for (const text of job.texts) {
    const out = writer(job.folder);
    for await (const events of redacted(redactor, readEvents(text))) {
      for (const event of events) {
        check(toText(listLeaves(event)));
        out.add(JSON.stringify(event));
      }
      messages += events.length;
    }
    texts.push(out.end());
  }
  const shown = redactor.redactLearnedValue(head);
  const counts = { ...redactor.counts };
  const raw = writer(job.folder);
  await eachRow(job.raw, (row, offset) => {
    tell(job.watch);
    const safe = redactor.redactLearnedValue(homes.tree(cleanTree(row)));
    check(toText(listStrings(safe)));
    raw.add(JSON.stringify([offset, safe]));
  });
  if (leaks.size > 0) return { ok: false, leaks: [...leaks] };
  const { [NOT_CHECKED]: unchecked = 0, ...found } = counts;
  const unsure = new Set(Array.from(doubtful.values(), ({ ruleId }) => ruleId));
  return {
    ok: true,
    texts,
    raw: raw.end(),
    head: shown,
    keys: job.keys.map((key) => plainKey(key, scanner, job)),
    messages,
    masked: Object.fromEntries(Object.entries(found).filter(([rule]) => !unsure.has(rule))),
    doubtful: [...doubtful.values()],
    unchecked,
  };
}

/** The user's name in a path or a sentence reads as a word; everything else as what it was. Without a mark of its value: see above. */
function plainly(rule: Rule): Rule {
  if (rule.kind !== "redact" || rule.replacement !== null) return rule;
  return {
    ...rule,
    replacement: rule.id === "user-name" || rule.id === "home-path" ? "user" : `[REDACTED:${rule.id}]`,
  };
}

/** Batches that begin with the last message of the one before: a secret may be cut between them. */
async function* windows(batches: AsyncIterable<SessionEvent[]>): AsyncGenerator<SessionEvent[]> {
  let last: SessionEvent[] = [];
  for await (const batch of batches) {
    yield [...last, ...batch];
    last = batch.slice(-1);
  }
}

/** Each message with what precedes and follows it. */
async function* redacted(redactor: Redactor, batches: AsyncIterable<SessionEvent[]>): AsyncGenerator<SessionEvent[]> {
  let before: SessionEvent[] = [];
  let waiting: SessionEvent[] = [];
  for await (const batch of batches) {
    const window = [...before, ...waiting, ...batch];
    const done = redactor.redactLearned(window);
    yield done.slice(before.length, -1);
    before = window.slice(-2, -1);
    waiting = window.slice(-1);
  }
  yield redactor.redactLearned([...before, ...waiting]).slice(before.length);
}

const toText = (leaves: Iterable<{ text: string }>) => Array.from(leaves, (leaf) => leaf.text).join("\n");

const PLACEHOLDER = /\[REDACTED:[a-z0-9-]+\]/y;

function inPlaceholder(text: string, offset: number): boolean {
  PLACEHOLDER.lastIndex = Math.max(0, text.lastIndexOf("[REDACTED:", offset));
  const match = PLACEHOLDER.exec(text);
  return match !== null && offset < match.index + match[0].length;
}

/** What a key looks like that says nothing: assistants use ids, some use paths. */
const PLAIN = /^[\w.:~-]{1,200}$/;

function plainKey(key: string, scanner: Scanner, { names }: Pick<PiecesJob<unknown>, "names">): string {
  const words = key.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const says = !PLAIN.test(key) || names.some((name) => words.includes(name.toLowerCase()));
  if (!says && scanner.scan(key, { forms: true }).findings.length === 0) return key;
  return `h-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

/** Rows of the log that can be parsed; none of a log in another format. */
async function eachRow(path: string | null, use: (row: Json, offset: number) => void): Promise<void> {
  if (path === null || !existsSync(path)) return;
  const take = (text: string, offset: number) => {
    const row = parsed(text);
    if (row !== undefined) use(row, offset);
  };
  if (/\.json$/i.test(path)) take(readFileSync(path, "utf8"), 0);
  else await scanLines(path, (bytes, from, to, offset) => take(bytes.toString("utf8", from, to), offset));
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined; // a half-written row
  }
}

function writer(folder: string) {
  const cutter = createPieces();
  const written: WrittenPiece[] = [];
  const take = (pieces: readonly Piece[]) => {
    for (const { sha256, bytes } of pieces) {
      const packed = gzipSync(bytes);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, `${sha256}.gz`), packed, { mode: 0o600 });
      written.push({ sha256, bytes: bytes.length, packed: packed.length });
    }
  };
  return {
    add: (line: string) => take(cutter.add(line)),
    end() {
      take(cutter.end());
      return written;
    },
  };
}
