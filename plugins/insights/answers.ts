/** Answers already given, as long as the archive did not change. */
import { createCache } from "sessarc";

const LIMIT = 64;

export interface Answers {
  /** The answer to `question` for this generation; concurrent callers share one computation. */
  get<T>(question: string, generation: number, compute: () => Promise<T>): Promise<T>;
  /** Forgets them all: what they were computed with changed. */
  clear(): void;
}

export function createAnswers(): Answers {
  const cache = createCache<unknown>(LIMIT);
  return {
    clear: () => cache.clear(),
    get: <T>(question: string, generation: number, compute: () => Promise<T>) =>
      cache.get(question, compute, generation) as Promise<T>,
  };
}
