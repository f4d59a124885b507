import type { Words } from "./index.ts";
import { en } from "./en.ts";

export const words: Words = en;
