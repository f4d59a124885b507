/** `licenses.txt` beside the page: the notices of every package that is in it, and of what is bundled with the service. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

/** What is in the page without a module or an asset of its own, with its notice where the package brings none. */
const WITHOUT_TRACE: Record<string, string | undefined> = {
  tailwindcss: undefined,
  "@fontsource-variable/inter": undefined,
  "@fontsource-variable/jetbrains-mono": undefined,
  "@iconify-json/lucide": fileURLToPath(new URL("./lucide.txt", import.meta.url)),
};
const LINE = `\n${"-".repeat(80)}\n\n`;

/** `service`: the notices that the build of the service wrote; left out where there are none yet. */
export function licenses(service: string): Plugin {
  const require = createRequire(import.meta.url);
  return {
    name: "licenses",
    apply: "build",
    generateBundle(_, bundle) {
      const files: string[] = [];
      for (const file of Object.values(bundle)) {
        if (file.type === "asset") files.push(...file.originalFileNames);
        else files.push(...file.moduleIds.filter((id) => (file.modules[id]?.renderedLength ?? 0) > 0));
      }
      const roots = new Set(files.flatMap(toRoot));
      for (const name of Object.keys(WITHOUT_TRACE)) roots.add(dirname(require.resolve(`${name}/package.json`)));
      const notices = [...roots].map(toNotice).sort();
      if (existsSync(service)) notices.push(...readFileSync(service, "utf8").split(LINE));
      this.emitFile({ type: "asset", fileName: "licenses.txt", source: together(notices).join(LINE) });
    },
  };
}

/** Packages with identical terms are listed together above them, each with its own copyright. */
function together(notices: readonly string[]): string[] {
  const groups = new Map<string, { terms: string; heads: Set<string> }>();
  for (const notice of notices) {
    const [head = "", ...rest] = notice.trim().split(/\n(?:[ \t]*\n)+/);
    const first = rest.findIndex((paragraph) => !/^\W*(copyright|(the )?mit license)\b/i.test(paragraph));
    const terms = rest.slice(first < 0 ? rest.length : first).join("\n\n");
    const key = terms.replace(/\s+/g, " ");
    const group = groups.get(key) ?? { terms, heads: new Set() };
    const own = rest.slice(0, first < 0 ? rest.length : first).join("\n");
    group.heads.add(own ? `${head}\n${own}` : head);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ heads, terms }) => `${[...heads].join("\n\n")}\n\n${terms}\n`);
}

/** Folder of the package a file belongs to. Assets are named from the folder of the page. */
function toRoot(file: string): string[] {
  const found = /^(.*\/)?(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll("\\", "/").replace(/^\0/, ""));
  if (!found?.[2]) return [];
  const root = fileURLToPath(new URL(`../../${found[2]}`, import.meta.url));
  return existsSync(join(root, "package.json")) ? [root] : [];
}

function toNotice(root: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    string,
    string
  >;
  const own = readdirSync(root).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
  const files = own.length > 0 ? own.map((entry) => join(root, entry)) : [WITHOUT_TRACE[name ?? ""]];
  const texts = files.map((file) => (file ? readFileSync(file, "utf8") : ""));
  return `${name} ${version} (${license})\n\n${texts.join("\n")}`;
}
