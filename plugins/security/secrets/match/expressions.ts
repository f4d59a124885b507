/** Expressions that others wrote run on an engine whose time grows with the text alone. Its 260 KB are loaded by the first of them. */
import { createRequire } from "node:module";
import type * as Re2 from "re2js";

let engine: typeof Re2 | undefined;

export function expressions(): typeof Re2 {
  engine ??= createRequire(import.meta.url)("re2js") as typeof Re2;
  return engine;
}
