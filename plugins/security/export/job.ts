/** What scans and renders whole sessions, off the main thread where there is a pool. Everything that crosses is plain data. */

import type { EventKind, Json, SessionEvent } from "sessarc";
import { createTranscripts, type TranscriptPart } from "sessarc/storage";
import { createRedactor, type Rule } from "../secrets/engine.ts";
import { scannerFor } from "../secrets/job.ts";
import { cleanEvent, cleanTree } from "./clean.ts";
import type { DocumentHead, DocumentWriter, SessionDocument } from "./document.ts";
import { toJson } from "./json.ts";
import { toMarkdown } from "./markdown.ts";
import { toPage } from "./page.ts";
import { type PiecesJob, type PiecesResult, writePieces } from "./pieces.ts";
import { tell, type Watch } from "./watch.ts";

/** Where the events come from: the data directory, or the caller when they live elsewhere. */
export type EventSource = { dir: string; id: string; parts: TranscriptPart[] } | { events: SessionEvent[] };

export interface CheckJob {
  source: EventSource;
  rules: Rule[];
  categories: ("secret" | "personal")[];
  /** Default: all. */
  kinds?: EventKind[];
  /** ms for all of it; what is left then was not checked. Default: no end. */
  budgetMs?: number;
  watch?: Watch;
}

export interface CheckFinding {
  seq: number;
  field: string;
  ruleId: string;
  rule: string;
  confidence: string;
  start: number;
  end: number;
  masked: string;
}

export interface CheckResult {
  findings: CheckFinding[];
  totals: Record<string, number>;
  scannedBytes: number;
  /** Messages checked. */
  messages: number;
  /** seqs of messages that were not checked, or not completely, the first thousand; `partial` when there are any. */
  unchecked: number[];
  partial: boolean;
}

/** More findings than this are counted and not listed. */
const MAX_FINDINGS = 5_000;

const MAX_UNCHECKED = 1_000;

export async function checkSession(job: CheckJob): Promise<CheckResult> {
  const { source, rules, categories, kinds, watch } = job;
  const scanner = scannerFor(rules, categories);
  const end = performance.now() + (job.budgetMs ?? Number.POSITIVE_INFINITY);
  const result: CheckResult = {
    ...{ findings: [], totals: {}, scannedBytes: 0, messages: 0 },
    ...{ unchecked: [], partial: false },
  };
  const leave = ({ seq }: SessionEvent, partial: boolean) => {
    if (!partial) return;
    result.partial = true;
    if (result.unchecked.length < MAX_UNCHECKED) result.unchecked.push(seq);
  };
  for await (const batch of readEvents(source)) {
    for (const event of batch) {
      if (kinds && !kinds.includes(event.kind)) continue;
      tell(watch);
      const left = end - performance.now();
      if (left <= 0) {
        leave(event, true);
        continue;
      }
      result.messages++;
      const budget = Number.isFinite(left) ? { budgetMs: left } : {};
      const scan = scanner.scanEvent(event, { forms: true, decodeLimit: Number.POSITIVE_INFINITY, ...budget });
      leave(event, scan.partial);
      result.scannedBytes += scan.scannedBytes;
      for (const { field, ruleId, rule, confidence, start, end, masked } of scan.findings) {
        result.totals[ruleId] = (result.totals[ruleId] ?? 0) + 1;
        if (result.findings.length < MAX_FINDINGS)
          result.findings.push({
            seq: event.seq,
            field: field.slice(0, 300),
            ruleId,
            rule,
            confidence,
            start,
            end,
            masked,
          });
      }
    }
  }
  return result;
}

export type Format = "md" | "html" | "json";

export interface RenderJob {
  source: EventSource;
  head: DocumentHead;
  /** Null: nothing is redacted. */
  rules: Rule[] | null;
  formats: Format[];
  madeAt: string;
  expiresAt?: string;
  toolName?: string;
  /** ms of looking for secrets; what is left then is hidden. Default: no end. */
  budgetMs?: number;
  watch?: Watch;
}

export type RenderResult =
  | { ok: true; head: DocumentHead; documents: Partial<Record<Format, string>>; redactions: Record<string, number> }
  /** Ids of the rules whose values were still readable. */
  | { ok: false; leaks: string[] };

const WRITERS: Record<Format, (document: SessionDocument) => DocumentWriter> = {
  md: toMarkdown,
  html: toPage,
  json: toJson,
};
const PLACEHOLDER = /\[REDACTED:[a-z0-9-]+(?:#[0-9a-f]{4})?\]/y;

/** Cleans, redacts, renders, and checks each finished document again. */
export async function renderSession(job: RenderJob): Promise<RenderResult> {
  const events: SessionEvent[] = [];
  for await (const batch of readEvents(job.source)) for (const event of batch) events.push(cleanEvent(event));
  const given = cleanTree(job.head as unknown as Json) as unknown as DocumentHead;
  const redactor =
    job.rules &&
    createRedactor(scannerFor(job.rules, ["secret", "personal"]), {
      onEvent: () => tell(job.watch),
      ...(job.budgetMs === undefined ? {} : { budgetMs: job.budgetMs }),
    });
  // Values of the head are hidden in the messages and the other way round.
  if (redactor) redactor.learn(Object.values(given));
  const shown = redactor ? redactor.redactEvents(events) : events;
  const head = redactor ? redactHead(given, (value) => redactor.redactValue(value)) : given;
  const redactions = redactor ? { ...redactor.counts } : {};
  const document: SessionDocument = {
    head,
    events: shown,
    redactions: redactor && redactions,
    madeAt: job.madeAt,
    expiresAt: job.expiresAt,
    toolName: job.toolName,
  };
  const documents: Partial<Record<Format, string>> = {};
  const leaks = new Set<string>();
  for (const format of job.formats) {
    const writer = WRITERS[format](document);
    const text = writer.toString();
    for (const { offset, ruleId } of redactor?.gate(text) ?? [])
      if (!writer.isOwn(offset) && !inPlaceholder(text, offset)) leaks.add(ruleId);
    documents[format] = text;
  }
  return leaks.size > 0 ? { ok: false, leaks: [...leaks] } : { ok: true, head, documents, redactions };
}

/** Times and counts are ours, and so are the names of the fields. */
function redactHead(head: DocumentHead, redact: (value: Json) => Json): DocumentHead {
  const one = <T extends Json>(value: T) => redact(value) as T;
  return {
    ...head,
    title: one(head.title),
    tool: one(head.tool),
    project: one(head.project),
    path: one(head.path),
    branch: one(head.branch),
    models: one(head.models),
    notes: one(head.notes),
  };
}

function inPlaceholder(text: string, offset: number): boolean {
  PLACEHOLDER.lastIndex = Math.max(0, text.lastIndexOf("[REDACTED:", offset));
  const match = PLACEHOLDER.exec(text);
  return match !== null && offset < match.index + match[0].length;
}

/** A session for another machine, in files. */
export async function writeSessionPieces(job: PiecesJob<EventSource>): Promise<PiecesResult> {
  return writePieces(job, (rules) => scannerFor(rules, ["secret", "personal"]), readEvents);
}

async function* readEvents(source: EventSource): AsyncGenerator<SessionEvent[]> {
  if ("events" in source) yield source.events;
  else yield* createTranscripts({ dir: source.dir }).events(source.id, source.parts);
}
