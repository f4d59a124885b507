/** A session in columns, grown by live messages. Position in a column is the message's seq. */
import { KINDS, type Kind } from "../../../components/base/tools.ts";
import type { Message, Outline } from "../../../wire.ts";

export type Role = Outline["tools"][number]["role"];
export interface Transcript {
  total: number;
  kinds: number[];
  /** ms since the epoch; NaN before the first message with a time. */
  times: number[];
  sizes: number[];
  /** Index into `tools` for a call, -1 for others. */
  tools: number[];
  toolNames: { name: string; role: Role }[];
  /** Of tools not called yet. */
  roles: Outline["roles"];
  /** For a result: seq of its call. For a call: seq of its result. -1 when unknown. */
  partner: number[];
  errors: Set<number>;
  prompts: { seq: number; text: string }[];
}

export const kindAt = (transcript: Transcript, seq: number): Kind => KINDS[transcript.kinds[seq] ?? 5] ?? "note";
export const toolAt = (transcript: Transcript, seq: number): { name: string; role: Role } | undefined =>
  transcript.toolNames[transcript.tools[seq] ?? -1];

/** Linear, about 2 ms for 20,000 messages. */
export function toTranscript(outline: Outline): Transcript {
  const { total } = outline;
  const transcript: Transcript = {
    total,
    kinds: new Array<number>(total),
    times: new Array<number>(total),
    sizes: outline.sizes,
    tools: new Array<number>(total).fill(-1),
    toolNames: outline.tools,
    roles: outline.roles,
    partner: new Array<number>(total).fill(-1),
    errors: new Set(outline.errors),
    prompts: [...outline.prompts],
  };
  let at = outline.start ?? Number.NaN;
  let calls = 0;
  let results = 0;
  for (let seq = 0; seq < total; seq++) {
    const kind = outline.kinds.charCodeAt(seq) - 48;
    transcript.kinds[seq] = kind;
    at += outline.steps[seq] ?? 0;
    transcript.times[seq] = at;
    if (kind === 3) transcript.tools[seq] = outline.calls[calls++] ?? -1;
    else if (kind === 4) pair(transcript, seq, outline.results[results++] ?? -1);
  }
  return transcript;
}

function pair(transcript: Transcript, result: number, call: number): void {
  transcript.partner[result] = call;
  if (call >= 0) transcript.partner[call] = result;
}

/** Adds a message that was written since; one that is there already is left alone. `callOf` finds the seq of an open call. */
export function addMessage(
  transcript: Transcript,
  message: Message,
  callOf: (id: string) => number | undefined,
): boolean {
  if (message.seq !== transcript.total) return false;
  const { seq } = message;
  transcript.total++;
  transcript.kinds[seq] = KINDS.indexOf(message.kind);
  const at = message.at === null ? Number.NaN : Date.parse(message.at);
  transcript.times[seq] = Number.isNaN(at) ? (transcript.times[seq - 1] ?? Number.NaN) : at;
  transcript.sizes[seq] = message.text.length;
  transcript.partner[seq] = -1;
  transcript.tools[seq] = -1;
  if (message.kind === "tool_use") {
    const name = message.tool_name ?? "";
    let index = transcript.toolNames.findIndex((tool) => tool.name === name);
    if (index < 0) index = transcript.toolNames.push({ name, role: transcript.roles[name] ?? null }) - 1;
    transcript.tools[seq] = index;
  } else if (message.kind === "tool_result") {
    pair(transcript, seq, (message.tool_use_id === undefined ? undefined : callOf(message.tool_use_id)) ?? -1);
    if (message.is_error) transcript.errors.add(seq);
  } else if (message.kind === "user" || message.kind === "note") {
    transcript.prompts.push({ seq, text: message.text.slice(0, 200) });
  }
  return true;
}

/** Pauses longer than this are no activity; as the archive counts. */
const PAUSE = 10 * 60_000;

/** Time between messages without pauses, in ms, from the message `from` on. */
export function activeSince(transcript: Transcript, from: number): number {
  let sum = 0;
  for (let seq = Math.max(1, from); seq < transcript.total; seq++) {
    const gap = (transcript.times[seq] ?? Number.NaN) - (transcript.times[seq - 1] ?? Number.NaN);
    if (gap > 0 && gap <= PAUSE) sum += gap;
  }
  return sum;
}

/** Takes out the messages from `from` on. */
export function cutMessages(transcript: Transcript, from: number): void {
  const { kinds, times, sizes, tools, partner, errors } = transcript;
  transcript.total = Math.min(transcript.total, from);
  for (const column of [kinds, times, sizes, tools, partner]) column.length = transcript.total;
  for (const [seq, other] of partner.entries()) if (other >= from) partner[seq] = -1;
  for (const seq of errors) if (seq >= from) errors.delete(seq);
  transcript.prompts = transcript.prompts.filter(({ seq }) => seq < from);
}

export function countKinds(transcript: Transcript): Record<Kind, number> {
  const counts: Record<Kind, number> = { user: 0, assistant: 0, thinking: 0, tool_use: 0, tool_result: 0, note: 0 };
  for (let seq = 0; seq < transcript.total; seq++) counts[kindAt(transcript, seq)]++;
  return counts;
}
