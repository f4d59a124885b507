/**
 * Redaction on the event tree, before anything is rendered. A value found once is hidden everywhere, in every form it
 * may be written in; a gate over the finished document proves it.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Json, SessionEvent } from "sessarc";
import { flagBefore, isFixed, isTooDeep, type Leaf, type LeafScanner, listLeaves, listStrings } from "../scan/event.ts";
import type { Finding, ScanOptions, ScanResult, TextScanner } from "../scan/scan.ts";
import { type Form, toForms } from "./forms.ts";
import { createNeedles, type Needles } from "./needles.ts";
import { NOT_CHECKED } from "./not-checked.ts";

export interface Redactor {
  /** Remembers every secret of a value (titles, paths, other events) without changing it. */
  learn(value: Json): void;
  /** The same of messages, and of what crosses from one to the next. */
  learnEvents(events: readonly SessionEvent[]): void;
  /** Copies of the events with every string redacted, keys included. Learns from all of them first. */
  redactEvents(events: readonly SessionEvent[]): SessionEvent[];
  /** The same of events that were learned: for sessions that are read twice and not held. Secrets that cross the edges of `events` are not seen. */
  redactLearned(events: readonly SessionEvent[]): SessionEvent[];
  /** A JSON value with every string redacted, keys included. */
  redactValue(value: Json): Json;
  /** The same of a value that was learned. */
  redactLearnedValue(value: Json): Json;
  redactText(text: string): string;
  /** How often a placeholder was written, by rule id. */
  readonly counts: Record<string, number>;
  /** Where a found value is still readable in the finished document. A hit must stop the export. */
  gate(document: string): GateHit[];
}

export interface GateHit {
  ruleId: string;
  form: Form["name"];
  offset: number;
}

export interface RedactorOptions {
  /** ms of scanning for all texts together; what is left then is hidden as a whole. Default: no end. */
  budgetMs?: number;
  /** Called before each event is scanned. Stops the work by throwing. */
  onEvent?: () => void;
  /** Called for each finding of a text that was not scanned before. */
  onFinding?: (finding: Finding) => void;
  /** For tests. Default: 32 random bytes of this redactor alone, so placeholders cannot be compared across exports. */
  key?: Uint8Array;
}

interface Span {
  start: number;
  end: number;
  ruleId: string;
  value: string;
}

/** A value is hidden wherever it stands from this length on; shorter ones only where a rule found them. */
const SECRET_FROM = 6;
const PERSONAL_FROM = 4;
/** A short value inside a longer word is another word. */
const WHOLE_WORD_BELOW = 12;
/** How much of two adjacent messages is read together: a streamed secret may be cut between them. */
const SEAM = 1_024;
const JOINED = new Set(["assistant", "thinking"]);
/** UTF-16 units of texts with findings that are held; what comes later is scanned once more when it is redacted. */
const HELD = 1 << 25;

export function createRedactor(scanner: TextScanner & LeafScanner, options: RedactorOptions = {}): Redactor {
  const key = options.key ?? randomBytes(32);
  const replacements = new Map(
    scanner.rules.flatMap((rule) => (rule.replacement === null ? [] : [[rule.id, rule.replacement]])),
  );
  const values = new Map<string, string>();
  const scanned = new Map<string, readonly Finding[]>();
  const counts: Record<string, number> = Object.create(null);
  /** Texts that hold a part of a secret which ends in the next message: what is left of them. */
  const parted = new Map<string, string>();
  let held = 0;
  const unchecked = new Set<string>();
  let left = options.budgetMs ?? Number.POSITIVE_INFINITY;
  let needles: Needles<{ ruleId: string; value: string; form: Form["name"] }> | undefined;

  function remember({ ruleId, secret, category }: Finding): void {
    const from = category === "personal" ? PERSONAL_FROM : SECRET_FROM;
    if (secret.length < from || values.has(secret)) return;
    values.set(secret, ruleId);
    needles = undefined;
  }

  function search(text: string): Span[] {
    needles ??= createNeedles(
      [...values].flatMap(([value, ruleId]) =>
        toForms(value).map(({ name, text }) => ({ text, value: { ruleId, value, form: name } })),
      ),
      PERSONAL_FROM,
    );
    const found = needles.find(text);
    return found
      .filter(({ start, end }) => end - start >= WHOLE_WORD_BELOW || isWholeWord(text, start, end))
      .map(({ start, end, value }) => ({ start, end, ...value }));
  }

  function timed(scan: (options: ScanOptions) => Pick<ScanResult, "findings" | "partial">) {
    if (left <= 0) return { findings: [], partial: true };
    const begun = performance.now();
    const result = scan({
      forms: true,
      decodeLimit: Number.POSITIVE_INFINITY,
      ...(Number.isFinite(left) ? { budgetMs: left } : {}),
    });
    left -= performance.now() - begun;
    return result;
  }

  /** Learned strings are not scanned twice: those without a finding are remembered by nothing but their length. */
  function scanOnce(leaf: Leaf): readonly Finding[] {
    const id = `${leaf.name ?? ""}\u0000${leaf.text}`;
    const cached = scanned.get(id);
    if (cached) return cached;
    const { findings, partial } = timed((options) => scanner.scanLeaf(leaf, options));
    if (partial) unchecked.add(id);
    if (findings.length > 0 && held < HELD) {
      scanned.set(id, findings);
      held += id.length;
    }
    for (const finding of findings) {
      remember(finding);
      options.onFinding?.(finding);
    }
    return findings;
  }

  function redactLeaf(leaf: Leaf, known: boolean, extra: readonly Span[] = []): string {
    const id = `${leaf.name ?? ""}\u0000${leaf.text}`;
    const findings = known && held < HELD ? (scanned.get(id) ?? []) : scanOnce(leaf);
    if (unchecked.has(id))
      return replace(leaf.text, [{ start: 0, end: leaf.text.length, ruleId: NOT_CHECKED, value: leaf.text }]);
    const before = extra.length === 0 ? parted.get(leaf.text) : undefined;
    if (before !== undefined) return before;
    const spans = [
      ...extra,
      ...search(leaf.text),
      ...findings.map(({ secret, ...finding }) => ({ ...finding, value: secret })),
    ];
    const redacted = replace(leaf.text, spans);
    if (extra.length > 0) parted.set(leaf.text, redacted);
    return redacted;
  }

  function replace(text: string, spans: Span[]): string {
    if (spans.length === 0) return text;
    let out = "";
    let at = 0;
    for (const span of union(spans)) {
      out += text.slice(at, span.start) + placeholder(span);
      at = span.end;
      counts[span.ruleId] = (counts[span.ruleId] ?? 0) + 1;
    }
    return out + text.slice(at);
  }

  function placeholder({ ruleId, value }: Span): string {
    if (ruleId === NOT_CHECKED) return `[REDACTED:${NOT_CHECKED}]`;
    const own = replacements.get(ruleId);
    if (own !== undefined) return own;
    return `[REDACTED:${ruleId}#${createHmac("sha256", key).update(value).digest("hex").slice(0, 4)}]`;
  }

  function redactTree(value: Json, name: string | undefined, known: boolean, depth = 0): Json {
    if (typeof value === "string") return redactLeaf({ text: value, field: "", name }, known);
    if (typeof value === "number") {
      const text = String(value);
      const redacted = redactLeaf({ text, field: "", name }, known);
      return redacted === text ? value : redacted;
    }
    if (typeof value !== "object" || value === null) return value;
    if (isTooDeep(depth)) return "[REDACTED:too-deep]";
    if (Array.isArray(value)) {
      return value.map((item, index) => redactTree(item, flagBefore(value, index) ?? name, known, depth + 1));
    }
    const entries = new Map<string, Json>();
    for (const [own, item] of Object.entries(value)) {
      let label = redactLeaf({ text: own, field: "", name: undefined }, known);
      while (entries.has(label)) label += "~";
      entries.set(label, redactTree(item, own, known, depth + 1));
    }
    // fromEntries defines own properties, so a `__proto__` key stays data.
    return Object.fromEntries(entries);
  }

  /** Secrets that begin in one message and end in the next of the same kind. */
  function seams(events: readonly SessionEvent[]): Map<number, Span[]> {
    const found = new Map<number, Span[]>();
    const add = (index: number, span: Span) => found.set(index, [...(found.get(index) ?? []), span]);
    for (let i = 1; i < events.length; i++) {
      const [before, after] = [events[i - 1], events[i]];
      if (!before || !after || before.kind !== after.kind || !JOINED.has(after.kind)) continue;
      const from = Math.max(0, before.text.length - SEAM);
      const seam = before.text.length - from;
      const joined = before.text.slice(from) + after.text.slice(0, SEAM);
      const { findings, partial } = timed((options) => scanner.scan(joined, options));
      if (partial) {
        const hidden = { ruleId: NOT_CHECKED, value: joined };
        add(i - 1, { ...hidden, start: from, end: before.text.length });
        add(i, { ...hidden, start: 0, end: joined.length - seam });
      }
      for (const finding of findings) {
        if (finding.start >= seam || finding.end <= seam) continue;
        remember(finding);
        const { ruleId, secret: value } = finding;
        add(i - 1, { ruleId, value, start: from + finding.start, end: before.text.length });
        add(i, { ruleId, value, start: 0, end: finding.end - seam });
      }
    }
    return found;
  }

  function learnEach(events: readonly SessionEvent[]): void {
    for (const event of events) {
      options.onEvent?.();
      for (const leaf of listLeaves(event)) scanOnce(leaf);
    }
  }

  function redactLearned(events: readonly SessionEvent[]): SessionEvent[] {
    const cut = seams(events);
    return events.map((event, index) => {
      const copy: SessionEvent = {
        ...event,
        text: redactLeaf({ text: event.text, field: "text", name: undefined }, true, cut.get(index)),
      };
      for (const field of ["id", "model", "tool_name", "tool_use_id"] as const) {
        const text = event[field];
        if (text !== undefined && !isFixed(field)) copy[field] = redactLeaf({ text, field, name: undefined }, true);
      }
      if (event.tool_input !== undefined) copy.tool_input = redactTree(event.tool_input, undefined, true);
      return copy;
    });
  }

  return {
    counts,
    learn(value) {
      for (const leaf of listStrings(value)) scanOnce(leaf);
    },
    learnEvents(events) {
      learnEach(events);
      seams(events);
    },
    redactEvents(events) {
      learnEach(events);
      return redactLearned(events);
    },
    redactLearned,
    redactValue(value) {
      for (const leaf of listStrings(value)) scanOnce(leaf);
      return redactTree(value, undefined, true);
    },
    redactLearnedValue: (value) => redactTree(value, undefined, true),
    redactText(text) {
      return redactLeaf({ text, field: "", name: undefined }, false);
    },
    gate(document) {
      return search(document).map((span) => {
        const form = toForms(span.value).find(({ text }) => text === document.slice(span.start, span.end));
        return { ruleId: span.ruleId, form: form?.name ?? "plain", offset: span.start };
      });
    },
  };
}

function isWholeWord(text: string, start: number, end: number): boolean {
  const word = /[\p{L}\p{N}]/u;
  const open = !word.test(text.charAt(start - 1)) || /\\[nrt]$/.test(text.slice(Math.max(0, start - 2), start));
  return open && !word.test(text.charAt(end));
}

/** Overlapping spans become one; the longest names it. */
function union(spans: Span[]): Span[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const out: Span[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (!last || span.start >= last.end) out.push({ ...span });
    else {
      if (span.value.length > last.value.length) Object.assign(last, { ruleId: span.ruleId, value: span.value });
      last.end = Math.max(last.end, span.end);
    }
  }
  return out;
}
