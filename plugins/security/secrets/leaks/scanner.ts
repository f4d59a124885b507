/** What the inbox looks for: the secrets of the built-in rules. */
import { builtinRules, createScanner, type Scanner } from "../engine.ts";

let made: Scanner | undefined;

/** Made once per thread: 100 ms the first time. */
export function leakScanner(): Scanner {
  made ??= createScanner(builtinRules(), { categories: ["secret"] });
  return made;
}
