/** Imported by every screen that says more than the shell and Home do: its words are there before it is drawn. */
import { pages } from "./en-pages.ts";
import { addEnglish } from "./index.ts";

addEnglish(pages);
