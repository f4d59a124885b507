import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Import {
  file: string;
  /** Relative to the root when it is one of our files, else as written. */
  target: string;
  typeOnly: boolean;
}

it.skipIf(!existsSync(join(root, ".git")))("nothing lies in the project's root but what belongs there", () => {
  const folders = [".ci", "core", "docs", "playground", "plugins", "test", "ui"];
  const texts = ["AGENTS.md", "CHANGELOG.md", "LICENSE", "README.md"];
  const settings = [".editorconfig", ".gitattributes", ".gitignore", "biome.json", "build.config.ts", "tsconfig.json"];
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const found = [...new Set(tracked.map((path) => path.split("/")[0]))].sort();
  expect(found).toEqual(
    [...folders, ...texts, ...settings, "package-lock.json", "package.json", "vitest.config.ts"].sort(),
  );
});

describe("who may import what", () => {
  it("core imports core and packages, never plugins, ui or test", () => {
    // The command line puts the product together: it may load the list of built-in plugins and the sample data, by their public names.
    const allowed = (i: Import) => i.target.startsWith("core/") || (isPackage(i) && !/^(sessarc|#)/.test(i.target));
    const composes = (i: Import) => i.file.startsWith("core/cli") && /^sessarc\/plugins(\/demo)?$/.test(i.target);
    expect(importsBelow("core").filter((i) => !allowed(i) && !composes(i))).toEqual([]);
  });

  it("core's rooms import downward", () => {
    const upward = importsBelow("core").filter(
      (i) => i.target.startsWith("core/") && toFloor(i.target) > toFloor(i.file),
    );
    expect(upward.map((i) => `${i.file} -> ${i.target}`)).toEqual([]);
  });

  it("no files import each other in a circle, types included", () => {
    for (const folder of ["core", "plugins", "ui", "playground", "test"]) {
      const arrows = new Map<string, string[]>();
      for (const { file, target } of importsBelow(folder)) arrows.set(file, [...(arrows.get(file) ?? []), target]);
      expect(findCircle(arrows), folder).toEqual([]);
    }
  });

  it("a plugin imports the public entries, its own folder and packages", () => {
    const allowed = (i: Import) => {
      const own = i.file.split("/").slice(0, 2).join("/");
      return (
        i.target.startsWith(`${own}/`) ||
        i.target in ENTRIES ||
        (i.typeOnly && i.target === "sessarc/dashboard") ||
        i.target === "sessarc/kit" ||
        (isPackage(i) && !/^(sessarc\/|#)/.test(i.target))
      );
    };
    const inPlugins = importsBelow("plugins").filter((i) => i.file !== "plugins/index.ts");
    expect(inPlugins.filter((i) => !allowed(i))).toEqual([]);
  });

  it("arrows between the rooms of a plugin run one way", () => {
    // A room is a folder of the plugin; a file beside the folders stands for itself.
    expect(toCircles(toArrows(importsBelow("plugins"), "plugins", 3))).toEqual([]);
  });

  it("arrows between the rooms of a team's server run one way", () => {
    expect(toCircles(toArrows(importsBelow("plugins/team"), "plugins/team/server", 4))).toEqual([]);
  });

  it("security's rooms: secrets know no session, exports and the guard know secrets and not each other", () => {
    const own = importsBelow("plugins/security");
    const arrows = toArrows(own, "plugins/security", 3);
    const leaving = (room: string) => [...(arrows.get(`plugins/security/${room}`) ?? [])];
    expect(leaving("secrets")).toEqual([]);
    expect(leaving("export")).toEqual(["plugins/security/secrets"]);
    expect(leaving("guard")).toEqual(["plugins/security/secrets"]);
    for (const room of ["secrets", "export", "guard"])
      expect(toCircles(toArrows(own, `plugins/security/${room}`, 4)), room).toEqual([]);
    expect(toCircles(toArrows(own, "plugins/security/guard/taint", 5))).toEqual([]);
  });

  it("the list of plugins imports plugins' entries, code of commands that start at once, and nothing deeper", () => {
    const list = importsBelow("plugins").filter((i) => i.file === "plugins/index.ts");
    expect(list.filter((i) => !(i.target in ENTRIES) && !/^plugins\/[^/]+\/(index|quick)\.ts$/.test(i.target))).toEqual(
      [],
    );
  });

  it("the dashboard takes only types from the server", () => {
    const server = importsBelow("ui").filter(
      (i) => i.target.startsWith("sessarc") || /^(core|plugins)\//.test(i.target),
    );
    // What a call's arguments say is read by one table, here and there.
    const isShared = (i: Import) => i.target === "core/adapter/tool-call.ts";
    expect(server.filter((i) => !isShared(i) && (!i.typeOnly || /^core\//.test(i.target)))).toEqual([]);
  });

  it("arrows between the dashboard's features run one way, and what they share knows none of them", () => {
    const inUi = importsBelow("ui");
    expect(toCircles(toArrows(inUi, "ui/features", 3))).toEqual([]);
    const shared = inUi.filter((i) => /^ui\/(components|state|i18n)\//.test(i.file));
    expect(shared.length).toBeGreaterThan(100);
    expect(shared.filter((i) => i.target.startsWith("ui/features/"))).toEqual([]);
  });

  it("the playground uses public entries", () => {
    const allowed = (i: Import) => i.target.startsWith("playground/") || (isPackage(i) && !i.target.startsWith("#"));
    expect(importsBelow("playground").filter((i) => !allowed(i))).toEqual([]);
  });

  it("an adapter is made of sessarc, sessarc/adapter and sessarc/files", () => {
    const folders = readdirSync(join(root, "plugins")).filter((name) =>
      /\bdefineAdapter\(/.test(toSource(`plugins/${name}/index.ts`)),
    );
    expect(folders.length).toBeGreaterThan(25);
    const entries = new Set(folders.flatMap((name) => importsBelow(`plugins/${name}`)).map((i) => i.target));
    expect([...entries].filter((name) => name.startsWith("sessarc")).sort()).toEqual([
      "sessarc",
      "sessarc/adapter",
      "sessarc/files",
    ]);
  });

  it("no name is exported by two entries", () => {
    const names = Object.values(ENTRIES).flatMap((file) =>
      [...toSource(file).matchAll(/\bexport (?:type )?\{([^}]*)\} from/g)].flatMap(([, list = ""]) => list.split(",")),
    );
    const bare = names.map((name) => name.trim().replace(/^(type )?(\w+ as )?/, "")).filter(Boolean);
    expect(bare.length).toBeGreaterThan(150);
    expect(bare.filter((name, at) => bare.indexOf(name) !== at)).toEqual([]);
  });

  it("guard, status line and resume know no assistant by name", async () => {
    const adapters = await allAdapters();
    const names = new Set(adapters.map(({ name }) => name));
    const labels = adapters.map(({ label }) => label).filter((label) => label.includes(" "));
    expect([names.has("kilo"), labels.includes("Claude Code")]).toEqual([true, true]);
    const rooms = ["security", "statusline", "notices"].flatMap((name) => importsBelow(`plugins/${name}`));
    const resume = ["plugins/archive/catalogue/resume.ts", "plugins/rescue/commands/resume.ts"];
    // Paths of files that hold credentials, whichever program wrote them, are no facts of one assistant.
    const files = [...new Set([...rooms.map(({ file }) => file), ...resume])].filter(
      (file) => !/stores\.ts$/.test(file),
    );
    expect(files.length).toBeGreaterThan(60);
    const found = files.flatMap((file) => {
      const code = codeOf(file);
      // A name is a word in quotes: `continue` elsewhere is none.
      const quoted = [...code.matchAll(/["'`]([a-z][a-z0-9-]*)["'`]/g)].map(([, word = ""]) => word);
      const named = [...quoted.filter((word) => names.has(word)), ...labels.filter((label) => code.includes(label))];
      return named.map((name) => `${file}: ${name}`);
    });
    expect(found).toEqual([]);
  });

  it("programs are started in one place, and elsewhere only what outlives the service", () => {
    const starters = ["core", "plugins"]
      .flatMap(importsBelow)
      .filter((i) => i.target === "node:child_process" && !i.typeOnly)
      .map((i) => i.file);
    expect(starters.sort()).toEqual([
      "core/background/control.ts",
      "core/background/supervise.ts",
      "core/cli/open.ts",
      "core/utils/exec.ts",
      "plugins/mcp-hub/upstream/watchdog.ts",
      "plugins/replay/run/open.ts",
      "plugins/rescue/resume/terminal.ts",
    ]);
  });

  it("whether a file is gone is asked of core", () => {
    const files = new Set(["core", "plugins"].flatMap(importsBelow).map((i) => i.file));
    const byHand =
      /ErrnoException( \| null)?\)(\?\.| => \w+\.|\.)code [!=]== "ENOENT"|catch\(\(\w+: NodeJS.ErrnoException\) => \{\s*if \(\w+\.code === "ENOENT"/;
    expect([...files].filter((file) => byHand.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  });

  it("no plugin builds paths in the data directory", () => {
    const files = new Set(importsBelow("plugins").map((i) => i.file));
    const byHand = /(join|resolve)\((\w+\.)*dataDir\b|\$\{(\w+\.)*dataDir\}\//;
    expect([...files].filter((file) => byHand.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  });

  it("nothing imports test", () => {
    const product = ["core", "plugins", "ui", "playground"].flatMap(importsBelow);
    expect(product.filter((i) => i.target.startsWith("test/"))).toEqual([]);
  });

  it("tests reach a plugin through its entry; the inner files they import are listed, with the reason", () => {
    const isInner = ({ target }: Import) =>
      /^plugins\/[^/]+\/.*[^/]$/.test(target) && !/^plugins\/[^/]+\/index\.ts$/.test(target);
    const found = new Map<string, number>();
    for (const { target } of importsBelow("test").filter(isInner)) {
      const place = Object.keys(INNER).find((one) => target.startsWith(`plugins/${one}`)) ?? target;
      found.set(place, (found.get(place) ?? 0) + 1);
    }
    const listed = new Map(Object.entries(INNER).map(([place, [count]]) => [place, count]));
    // Fewer: lower the number. More: drive it through `kernel.fetch`, `kernel.inject`, a command or a contract suite.
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
  });

  it.each(Object.entries(ENTRIES))("%s loads no heavy package when it is imported", (_name, entry) => {
    const heavy =
      /^(h3|listhen|sql\.js|unstorage|tinypool|@parcel\/watcher|jiti|yaml|re2js|@modelcontextprotocol|jsonc-parser|@decimalturn)($|\/)/;
    const reached = reach(entry);
    expect(reached.filter((i) => heavy.test(i.target)).map((i) => `${i.file} -> ${i.target}`)).toEqual([]);
  });
});

/** Inner files of plugins that tests import: how many imports there are, and why the test is not better through the door. */
const INNER: Readonly<Record<string, readonly [imports: number, why: string]>> = {
  "antigravity/": [1, "a parser of bytes that no log has"],
  "archive/backup/": [1, "headers of archives that are hostile"],
  "archive/catalogue/": [
    9,
    "filters and sums over thousands of random rows, beside a count by hand; no logs are written",
  ],
  "archive/commands/": [1, "a frame of a live display, drawn at chosen times"],
  "archive/figures/": [4, "figures over random rows, beside a count by hand; no logs are written"],
  "archive/import/": [2, "moments of an import that no caller can hold open"],
  "archive/places/": [6, "paths of systems that this machine is not"],
  "archive/search/": [19, "matching, signatures and spelling of random texts, beside a plain search"],
  "blame/receipt/": [1, "sums over random repositories, beside a count by hand"],
  "blame/verify/": [3, "tables of commands and messages; a signed file with every byte changed"],
  "budget/period.ts": [1, "days, weeks and months over changes of the clock"],
  "causality/": [2, "rows of events without a log"],
  "codex/": [1, "a hash that another program checks, with its known values"],
  "copilot/": [6, "a parser's rows, and folders of other systems"],
  "cursor/": [2, "addresses of other systems, text of other versions"],
  "demo/": [9, "writers of sample logs, which tests use as fixtures"],
  "gemini-cli/": [2, "folding of random changes, beside the plain result"],
  "git/": [5, "git over repositories without an archive; parsers of git's own bytes"],
  "insights/figures/": [11, "figures over random rows, beside a count by hand"],
  "insights/prices/": [9, "prices of every model and date in the table"],
  "insights/routes/": [1, "a parameter's parsing"],
  "live/": [2, "a reader without a service"],
  "mcp-hub/configs/": [2, "the helpers that a contract of an adapter is called with"],
  "mcp-hub/": [9, "a clock and connections under the test's control"],
  "opencode/": [2, "rows of databases that are written while they are read"],
  "replay/run/": [4, "what this machine's isolation can do decides which tests run; shell lines by the hundred"],
  "rescue/": [5, "files of another user, links, texts of every length, and bytes of every shape cut into chunks"],
  "rules/instructions/": [1, "which of several assistants' files is written, without a log of each"],
  "security/export/": [2, "a reader that stalls; hostile policies"],
  "security/scrub/": [2, "random rows, and bytes before and after"],
  "security/secrets/": [17, "the engine over thousands of samples: a call each would be a request each"],
  "share/shares.ts": [1, "two services over one archive"],
  "skills/": [7, "random folders and texts, beside a plain check"],
  "statusline/": [2, "what assistants send, and lines of every width"],
  "team/database/": [6, "the database's own contract: SQL on two engines"],
  "team/": [15, "a server without a socket, hostile machines, limits and their numbers"],
};

/** The package's entries that plugins import, and their files. */
const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries([
  ["sessarc", "core/index.ts"],
  ...readdirSync(join(root, "core/entries")).map((file) => [`sessarc/${file.slice(0, -3)}`, `core/entries/${file}`]),
]);

/** Every built-in adapter, variants included. */
async function allAdapters(): Promise<{ name: string; label: string }[]> {
  const entries = defaultPlugins().filter(({ specifier }) =>
    adapterFolders().includes(specifier.split("/").at(-1) ?? ""),
  );
  const modules = await Promise.all(entries.map(({ load }) => load?.()));
  return modules.flatMap((module, i) => {
    const make: unknown = isRecord(module) ? module.default : undefined;
    const made: unknown = typeof make === "function" ? make(entries[i]?.options) : undefined;
    const adapter = isRecord(made) && isRecord(made.adapter) ? made.adapter : undefined;
    return adapter ? [{ name: String(adapter.name), label: String(adapter.label) }] : [];
  });
}

/** The folders of plugins that are adapters. */
const adapterFolders = (): string[] =>
  readdirSync(join(root, "plugins")).filter((name) => /\bdefineAdapter\(/.test(toSource(`plugins/${name}/index.ts`)));

/** A source without its comments. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "");

const toSource = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "");

/** Core's rooms from the ground up; what is in none of them is the roof. */
const ROOMS = [
  "errors",
  "utils",
  "outside",
  "terminal",
  "workers",
  "session",
  "storage",
  "contract",
  "adapter",
  "config",
  "background",
  "http",
  "kernel",
  "serve",
];

function toFloor(file: string): number {
  const [, room = "", inside] = file.split("/");
  if (room === "index.ts" || room === "entries") return ROOMS.length;
  if (room === "cli") return ROOMS.length + 1;
  if (room === "cli.ts") return ROOMS.length + 2;
  const floor = ROOMS.indexOf(room);
  if (floor < 0 || inside === undefined) throw new Error(`${file} is in no room of core`);
  return floor;
}

/** The files of one circle of imports, first and last the same; empty when there is none. */
function findCircle(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  function visit(file: string, chain: readonly string[]): string[] {
    if (chain.includes(file)) return [...chain.slice(chain.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const target of arrows.get(file) ?? []) {
      const circle = visit(target, [...chain, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  }
  for (const file of arrows.keys()) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

const isPackage = (i: Import) => !/^(core|plugins|ui|test|playground)\//.test(i.target);

/** Which rooms below `folder` import which; a room's path has `depth` names. */
function toArrows(imports: readonly Import[], folder: string, depth: number): Map<string, Set<string>> {
  const toRoom = (path: string) => path.split("/").slice(0, depth).join("/");
  const arrows = new Map<string, Set<string>>();
  for (const { file, target } of imports) {
    if (!file.startsWith(`${folder}/`) || !target.startsWith(`${folder}/`)) continue;
    const [from, to] = [toRoom(file), toRoom(target)];
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
  }
  return arrows;
}

/** Those that can be reached from themselves, with the way. */
function toCircles(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const wayBack = (to: string, at: string, seen: Set<string>): string[] | undefined => {
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const next of arrows.get(at) ?? []) {
      const rest = next === to ? [next] : wayBack(to, next, seen);
      if (rest) return [at, ...rest];
    }
    return undefined;
  };
  return [...arrows.keys()].flatMap((name) => wayBack(name, name, new Set())?.join(" -> ") ?? []);
}

/** Every import of every source file below a folder. */
function importsBelow(folder: string): Import[] {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|vue|mts)$/.test(name) && !/(^|\/)(node_modules|dist|data)\//.test(name))
    .flatMap((name) => toImports(`${folder}/${name.replaceAll("\\", "/")}`));
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)(\s*\.\s*[A-Z])?/g;

function toImports(file: string): (Import & { dynamic: boolean })[] {
  return [...codeOf(file).matchAll(IMPORT)].map(([, type, fixed, lazy, member]) => {
    const written = fixed ?? lazy ?? "";
    const target = written.startsWith(".") ? relative(root, resolve(root, dirname(file), written)) : written;
    // `import("x").Name` is a type.
    return { file, target, typeOnly: type !== undefined || member !== undefined, dynamic: lazy !== undefined };
  });
}

/** Imports that run when `entry` is loaded. */
function reach(entry: string, seen = new Set<string>()): Import[] {
  if (seen.has(entry)) return [];
  seen.add(entry);
  const now = toImports(entry).filter((i) => !i.typeOnly && !i.dynamic);
  return [...now, ...now.flatMap((i) => (i.target.endsWith(".ts") ? reach(i.target, seen) : []))];
}
