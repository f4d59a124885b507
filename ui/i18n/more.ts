/** Imported by the screens that are neither Home, a project nor a session: their words are there before they are drawn. */
import { more } from "./en-more.ts";
import { addEnglish } from "./index.ts";

addEnglish(more);
