/** How well questions are answered: evidence among the first five, none where there is none, tokens. */
import type { Answer } from "../../../plugins/recall/index.ts";
import { idOf } from "../logs.ts";
import type { Question } from "./generate.ts";

export interface Measured {
  /** Shares, 0 to 1. */
  one: number;
  several: number;
  /** Of one and several. */
  found: number;
  none: number;
  p95: number;
  missed: { question: Question; answer: Answer }[];
}

export async function measure(
  questions: readonly Question[],
  ask: (question: string) => Promise<Answer>,
): Promise<Measured> {
  const right = { one: 0, several: 0, none: 0 };
  const all = { one: 0, several: 0, none: 0 };
  const tokens: number[] = [];
  const missed: Measured["missed"] = [];
  for (const question of questions) {
    const answer = await ask(question.text);
    tokens.push(answer.tokens);
    all[question.kind]++;
    if (isRight(question, answer)) right[question.kind]++;
    else missed.push({ question, answer });
  }
  tokens.sort((a, b) => a - b);
  return {
    one: right.one / all.one,
    several: right.several / all.several,
    found: (right.one + right.several) / (all.one + all.several),
    none: right.none / all.none,
    p95: tokens[Math.floor(tokens.length * 0.95)] ?? 0,
    missed,
  };
}

/** Of one session a message of the story; of several, messages of two. */
function isRight({ kind, answers }: Question, { evidence }: Answer): boolean {
  if (kind === "none") return evidence.length === 0;
  const first = evidence.slice(0, 5);
  const found = answers.filter(({ n, from, to }) =>
    first.some(({ session, seq }) => session === idOf(n) && seq >= from && seq < to),
  );
  return found.length >= (kind === "one" ? 1 : 2);
}

export const toText = ({ missed, ...shares }: Measured, limit = 100): string =>
  [
    Object.entries(shares)
      .map(([name, value]) => `${name} ${Math.round(value * 1_000) / 1_000}`)
      .join(" · "),
    ...missed.slice(0, limit).map(
      ({ question, answer }) =>
        `${question.kind} ${question.story}: ${question.text}\n    ${answer.evidence
          .slice(0, 3)
          .map(
            ({ kind, session, seq, fit, text }) =>
              `${kind} ${parseInt(session.slice(-8), 16)}#${seq} ${fit} ${text.slice(0, 90)}`,
          )
          .join("\n    ")}`,
    ),
  ].join("\n");
