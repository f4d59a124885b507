/** Compares long texts off the main thread. */
import { compare } from "./compare.ts";
import type { DiffAnswer, DiffRequest } from "./diff-types.ts";

self.onmessage = (event: MessageEvent<DiffRequest>) => {
  const { id, before, after, context, excerpt } = event.data;
  const answer: DiffAnswer = { id, hunks: compare(before, after, { context, excerpt, timeout: 280 }) };
  self.postMessage(answer);
};
