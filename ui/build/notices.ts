/** Writes the licences of the packages that are bundled into the service beside its code. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** `plugin` notes what is taken in; `write` writes the notices of that and of `more` packages. */
export function collectNotices() {
  const roots = new Set<string>();
  return {
    plugin: {
      name: "notices",
      generateBundle(_options: unknown, bundle: Record<string, object>) {
        for (const file of Object.values(bundle)) {
          const modules = "modules" in file ? (file.modules as Record<string, { renderedLength: number }>) : {};
          for (const [id, { renderedLength }] of Object.entries(modules)) {
            const root = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/"))?.[0];
            if (root && renderedLength > 0) roots.add(root.replace("\0", ""));
          }
        }
      },
    },
    write(path: string, more: readonly string[]) {
      const all = [...roots, ...more.map((name) => `node_modules/${name}`)];
      writeFileSync(
        path,
        all
          .sort()
          .map(toNotice)
          .join(`\n${"-".repeat(80)}\n\n`),
      );
    },
  };
}

function toNotice(root: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as Record<string, string>;
  const file = readdirSync(root).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(`${root}/${file}`, "utf8") : ""}`;
}
