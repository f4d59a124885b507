/** The package's entries as their sources, for jiti. */
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(`../../core/${path}.ts`, import.meta.url));
const ENTRIES = ["adapter", "files", "serve", "storage", "terminal"];

export const alias = {
  ...Object.fromEntries(ENTRIES.map((name) => [`sessarc/${name}`, here(`entries/${name}`)])),
  sessarc: here("index"),
};
