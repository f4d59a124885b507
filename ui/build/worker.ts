/** `sw.js` beside the page: the service worker, told which files the build is made of. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import type { Shell } from "../worker/shell.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const FILE = "sw.js";
/** Not kept from the start: the highlighter's languages (1.2 MB), other languages of the page, letters of other scripts. */
const LATER = /node_modules\/@shikijs\/langs|\/(i18n|words|synonyms)\/(ja|zh)\.ts$|-latin-ext\.woff2$/;

export function worker(): Plugin {
  return {
    name: "service-worker",
    apply: "build",
    buildStart() {
      this.emitFile({ type: "chunk", id: here("../worker/worker.ts"), fileName: FILE });
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const own = bundle[FILE];
        if (own?.type !== "chunk" || own.imports.length > 0) throw new Error(`${FILE} is not one script`);
        const first: string[] = [];
        const later: string[] = [];
        let entry: string | undefined;
        for (const file of Object.values(bundle)) {
          if (!file.fileName.startsWith("assets/")) continue;
          const path = `/${file.fileName}`;
          const sources = file.type === "chunk" ? [file.facadeModuleId ?? ""] : file.originalFileNames;
          (sources.some((source) => LATER.test(source.replaceAll("\\", "/"))) ? later : first).push(path);
          if (file.type === "chunk" && file.isEntry) entry = path;
        }
        if (entry === undefined) throw new Error("The page has no script");
        const plain = readdirSync(here("../public")).map((name) => `/${name}`);
        const names = [...first, ...later, ...plain].sort().join();
        const version = createHash("sha256").update(names).update(own.code).digest("hex").slice(0, 16);
        const shell: Shell = { version, entry, first, later, plain };
        own.code = own.code.replace(/\bSHELL\b/, () => JSON.stringify(shell));
      },
    },
  };
}
