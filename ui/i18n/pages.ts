/** Imported by screens of sessions and projects: their words are there before they are drawn. */
import { pages } from "./en-pages.ts";
import { addEnglish } from "./index.ts";

addEnglish(pages);
