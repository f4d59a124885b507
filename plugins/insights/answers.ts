/** Answers already given, as long as the archive did not change. */
import { BoundedMap } from "#internal/adapter";

const LIMIT = 64;

export interface Answers {
  /** The answer to `question` for this generation; concurrent callers share one computation. */
  get<T>(question: string, generation: number, compute: () => Promise<T>): Promise<T>;
  /** Forgets them all: what they were computed with changed. */
  clear(): void;
}

export function createAnswers(): Answers {
  const kept = new BoundedMap<string, { generation: number; answer: Promise<unknown> }>(LIMIT);
  return {
    clear: () => kept.clear(),
    get<T>(question: string, generation: number, compute: () => Promise<T>): Promise<T> {
      const known = kept.get(question);
      if (known?.generation === generation) {
        kept.set(question, known); // the newest last
        return known.answer as Promise<T>;
      }
      const answer = compute();
      kept.set(question, { generation, answer });
      answer.catch(() => {
        if (kept.get(question)?.answer === answer) kept.delete(question);
      });
      return answer;
    },
  };
}
