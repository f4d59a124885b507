/** Which old prompts a proof gives to an assistant, and what that may cost. */
import { type Kernel, SessarcError } from "sessarc";
import type { Finding } from "../find/finding.ts";
import { createJudge } from "./judge.ts";

/** An old prompt after which the mistake was made. */
export interface OldPrompt {
  session: string;
  seq: number;
  text: string;
  /** Nothing was said before it in its session. */
  isFirst: boolean;
  /** Millionths of a US dollar that it led to when it was recorded; null where that is unknown. */
  microdollars: number | null;
}

const PROMPTS = 2;
/** Sessions that are looked through for prompts. */
const SESSIONS = 10;
/** Each prompt with the line and without it. */
export const RUNS = 2;

/** The prompts, those that begin a session first. Throws RULE_NOT_PROVABLE. */
export async function choosePrompts(kernel: Kernel, finding: Finding): Promise<OldPrompt[]> {
  if ("words" in finding.mistake && finding.mistake.words.length === 0)
    throw new SessarcError("RULE_NOT_PROVABLE", {
      line: finding.line,
      reason: "it does not say what is not to be done",
    });
  const newest = finding.evidence.toSorted((a, b) => (String(a.at) < String(b.at) ? 1 : -1));
  const bySession = new Map(newest.map((one) => [one.session, one]));
  const found: Omit<OldPrompt, "microdollars">[] = [];
  for (const { session, seq } of [...bySession.values()].slice(0, SESSIONS)) {
    const prompt = await findPrompt(kernel, session, seq, finding);
    if (prompt) found.push(prompt);
  }
  const chosen = found.toSorted((a, b) => Number(b.isFirst) - Number(a.isFirst)).slice(0, PROMPTS);
  if (chosen.length < PROMPTS)
    throw new SessarcError("RULE_NOT_PROVABLE", {
      line: finding.line,
      reason: "the mistake is in the calls after a prompt in fewer than two sessions",
    });
  return Promise.all(chosen.map(async (one) => ({ ...one, microdollars: await readCost(kernel, one) })));
}

/** The prompt that led to the mistake, if the calls between show it. */
async function findPrompt(kernel: Kernel, id: string, seq: number, { kind, mistake }: Finding) {
  const archive = kernel.inject("archive");
  const session = await archive.find(id);
  if (!session || session.parentId !== null) return undefined;
  const tools = archive.adapter(session.tool)?.tools ?? {};
  let prompt: { seq: number; text: string; isFirst: boolean } | undefined;
  let judge = createJudge(mistake, tools, session.cwd);
  for await (const events of archive.events(session))
    for (const event of events) {
      const isPrompt = event.kind === "user" && event.text.trim() !== "";
      const isOver = kind === "correction" ? event.seq >= seq : isPrompt && event.seq > seq;
      if (isOver) return prompt && judge.failed() ? { session: id, ...prompt } : undefined;
      if (isPrompt) {
        prompt = { seq: event.seq, text: event.text, isFirst: prompt === undefined };
        judge = createJudge(mistake, tools, session.cwd);
      } else judge.event(event);
    }
  return prompt && judge.failed() ? { session: id, ...prompt } : undefined;
}

async function readCost(kernel: Kernel, { session, seq }: { session: string; seq: number }): Promise<number | null> {
  const costs = await kernel.inject("insights").prompts(session);
  if (costs.missing !== null) return null;
  const archive = kernel.inject("archive");
  const prompts: number[] = [];
  for await (const events of archive.events(await archive.get(session)))
    for (const event of events) if (event.kind === "user") prompts.push(event.seq);
  const end = prompts.find((one) => one > seq) ?? Number.POSITIVE_INFINITY;
  const own = costs.prompts.filter((one) => one.seq >= seq && one.seq < end);
  if (own.some(({ cost }) => cost.unpriced.length > 0)) return null;
  return own.reduce((sum, { cost }) => sum + cost.microdollars, 0);
}
