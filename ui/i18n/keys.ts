/** What the dashboard says, by name: each language has all of it. */
import type { en } from "./en.ts";
import type { more } from "./en-more.ts";
import type { pages } from "./en-pages.ts";

export type Key = keyof typeof en | keyof typeof pages | keyof typeof more;
export type Words = Record<Key, string>;
