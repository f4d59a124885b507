/**
 * `docs/reference/` is made from the code: commands, routes, hooks, error codes, public entries, tables, configuration. After a change run
 * `npx vitest run test/reference.test.ts -u`, which writes the pages.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ERRORS } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import archive from "sessarc/plugins/archive";
import type { Command } from "sessarc/terminal";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { COMMON_HELP, COMMON_OPTIONS } from "../core/cli/args.ts";
import { allCommands } from "../core/cli/commands.ts";
import { ENTRIES, toNames, toPurpose } from "./entries.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const page = (name: string) => here(`../docs/reference/${name}.md`);
const NOTE = "<!-- Made from the code by test/reference.test.ts: do not edit. -->";
const toPage = (title: string, intro: string, parts: readonly string[]) =>
  `${[`# ${title}`, NOTE, intro, ...parts].join("\n\n")}\n`;

/** A cell of a table: one line, no bar that ends it. */
const cell = (text: string) => text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

const options = ({ options, help }: Pick<Command, "options" | "help">) =>
  Object.entries(options).map(([name, { type, short }]) => [
    `${short ? `\`-${short}\`, ` : ""}\`--${name}${type === "string" ? " <value>" : ""}\``,
    help[name] ?? "",
  ]);

describe("docs/reference", () => {
  it("commands", async () => {
    const commands = (await allCommands(defaultPlugins())).filter(({ hidden }) => hidden !== true);
    const parts = commands.map((command) => {
      const { example } = command;
      const lines = command.usage.split("\n").map((line) => `sessarc ${command.name} ${line}`.trimEnd());
      const rows = options(command);
      return [
        `## ${command.name}`,
        `${command.summary}.`,
        `\`\`\`\n${lines.join("\n")}\n\`\`\``,
        ...(example === undefined ? [] : [`Example: \`sessarc ${command.name} ${example}\``]),
        ...(rows.length > 0 ? [table(["option", "meaning"], rows)] : []),
      ].join("\n\n");
    });
    const common = table(["option", "meaning"], options({ options: COMMON_OPTIONS, help: COMMON_HELP }));
    const intro =
      "Results go to stdout, progress and notices to stderr. Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 nothing found, 4 the service or the archive cannot be reached.";
    const text = toPage("Commands", intro, [...parts, `## Options of every command\n\n${common}`]);
    await expect(text).toMatchFileSnapshot(page("commands"));
  });

  it("routes", async () => {
    const parts: string[] = [];
    for (const { load } of defaultPlugins()) {
      const { name, routes = [] } = (await load?.())?.default() ?? { name: "", routes: [] };
      const rows = routes.map(({ method, path, summary = "" }) => [`\`${method} ${path}\``, summary]);
      if (rows.length > 0) parts.push(`## ${name}\n\n${table(["route", "what it does"], rows)}`);
    }
    const intro =
      "Paths are below `/api` unless the plugin mounts them elsewhere. `GET /api/openapi.json` describes parameters, bodies and answers.";
    await expect(toPage("HTTP routes", intro, parts)).toMatchFileSnapshot(page("routes"));
  });

  it("hooks", async () => {
    const parts = sources().flatMap(([folder, text]) => {
      const rows = hooksIn(text);
      return rows.length > 0 ? [`## ${folder}\n\n${table(["hook", "payload", "when"], rows)}`] : [];
    });
    const intro =
      "Listen with `hooks` of a plugin. A name in the present tense runs before the action: a listener may change the payload, and a throw aborts. A name in the past tense only informs.";
    await expect(toPage("Hooks", intro, parts)).toMatchFileSnapshot(page("hooks"));
  });

  it("error codes", async () => {
    const rows = Object.entries(ERRORS)
      // Another test of the same process may have registered more codes.
      .filter(([code]) => !code.startsWith("TEST_"))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, { status, why, fix }]) => [`\`${code}\``, String(status), shown(why), fix ? shown(fix) : ""]);
    const intro =
      "Errors have one shape: `{ status, code, message, fix?, issues?, errorId? }`. `‹name›` stands for a value.";
    const text = toPage("Error codes", intro, [table(["code", "status", "message", "fix"], rows)]);
    await expect(text).toMatchFileSnapshot(page("errors"));
  });

  it("entries", async () => {
    const parts = ENTRIES.map(([entry, file]) => {
      const rows = toNames(file).map(({ name, kind, doc }) => [
        `\`${kind.includes("(") ? kind : name}\``,
        kind.includes("(") ? "function" : kind,
        doc,
      ]);
      return `## ${entry}\n\n${toPurpose(file)}.\n\n${table(["name", "", "what it is"], rows)}`;
    });
    const intro =
      "Every name that a plugin or a program imports, by its one entry. `sessarc/test` holds the contract suites, `sessarc/dashboard` the types of a page, `sessarc/plugins/<name>` those that a built-in plugin adds.";
    await expect(toPage("Public entries", intro, parts)).toMatchFileSnapshot(page("entries"));
  });

  it("tables", async () => {
    const { kernel } = await createTestKernel({ plugins: [archive()] });
    const readme = readFileSync(here("../plugins/archive/README.md"), "utf8");
    const list = /^Tables that other plugins ask in SQL .*?: (.*?); the team's server/m.exec(readme)?.[1] ?? "";
    const parts: string[] = [];
    for (const [, name = "", about = ""] of list.matchAll(/`(\w+)`(?: \(([^)]*)\))?/g)) {
      const columns = await kernel.storage.db.all<{ name: string; type: string; notnull: number; pk: number }>(
        "select name, type, [notnull], pk from pragma_table_info(?)",
        [name],
      );
      const rows = columns.map((one) => [
        `\`${one.name}\``,
        `${one.type.toLowerCase()}${one.notnull || one.pk ? "" : " or null"}`,
        one.pk ? "key" : "",
      ]);
      parts.push([`## ${name}`, ...(about ? [`${about}.`] : []), table(["column", "type", ""], rows)].join("\n\n"));
    }
    expect(parts.length).toBeGreaterThan(10);
    const intro =
      "What a plugin may ask of the archive in SQL (`kernel.storage.db`): these tables, and no others. Only the archive writes them. `session` and `project` are ids; `_at` and `ended` are ms since 1970 or ISO texts, by their type; `quarter` counts quarter-hours (UTC) since 1970; `model` may end with a price class, which `plainModel` takes off. `archive.get` and `archive.session` answer a session with its values parsed.";
    await expect(toPage("Tables of the archive", intro, parts)).toMatchFileSnapshot(page("tables"));
  });

  it("configuration", async () => {
    const config = readFileSync(here("../core/config/config.ts"), "utf8");
    const own = toMembers(config, "UserConfig");
    const added = sources().flatMap(([folder, text]) =>
      folder === "core"
        ? []
        : toMembers(text, "UserConfig").map((row) => [...row.slice(0, 2), `${row[2]} (${folder})`]),
    );
    const intro =
      "`sessarc.config.{mjs,js,ts}` in the working directory, else in `~/.config/sessarc/`. Flags override the environment, the environment overrides the file.";
    const text = toPage("Configuration", intro, [table(["key", "type", "meaning"], [...own, ...added])]);
    await expect(text).toMatchFileSnapshot(page("configuration"));
  });
});

describe("commands in the guides", () => {
  const guides = [
    "getting-started.md",
    "concepts.md",
    "troubleshooting.md",
    ...readdirSync(here("../docs/guides")).map((name) => `guides/${name}`),
  ];

  it.each(guides)("%s names commands and flags that there are", async (guide) => {
    const shown = (await allCommands(defaultPlugins())).filter(({ hidden }) => hidden !== true);
    const commands = new Map(shown.map((command) => [command.name, command]));
    const text = readFileSync(here(`../docs/${guide}`), "utf8");
    const lines = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) => block.split("\n"));
    const wrong = lines
      .map((line) => line.replace(/^npx /, "").replace(/\s+#.*$/, ""))
      .filter((line) => line.startsWith("sessarc"))
      .filter((line) => {
        const words = line.split(" ").slice(1);
        const name = words.find((word) => !word.startsWith("-") && commands.has(word)) ?? "serve";
        const known = { ...commands.get(name)?.options, ...COMMON_OPTIONS };
        const flags = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
        return (
          (words[0] && !words[0].startsWith("-") && !commands.has(words[0])) || flags.some((flag) => !(flag in known))
        );
      });
    expect(wrong).toEqual([]);
  });
});

/** The text of core's kernel contract and of each plugin, by folder. */
function sources(): [folder: string, text: string][] {
  const plugins = readdirSync(here("../plugins"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [
    ["core", readFileSync(here("../core/contract/kernel.ts"), "utf8")],
    ...plugins.map(({ name }): [string, string] => [
      name,
      readdirSync(here(`../plugins/${name}`), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .sort()
        .map((file) => readFileSync(here(`../plugins/${name}/${file}`), "utf8"))
        .join("\n"),
    ]),
  ];
}

/** Hooks of the `KernelHooks` interfaces of a text: name, payload, doc comment. */
function hooksIn(text: string): string[][] {
  const blocks = [...text.matchAll(/interface KernelHooks \{([\s\S]*?)\n {0,2}\}/g)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?"([a-z-]+:[a-z-]+)":\s*\(([\s\S]*?)\)\s*=>/g)].map(
      ([, doc = "", name = "", payload = ""]) => [
        `\`${name}\``,
        `\`${payload.replace(/\s+/g, " ").trim()}\``,
        plain(doc),
      ],
    ),
  );
}

/** Members of an interface: name, type, doc comment. */
function toMembers(text: string, name: string): string[][] {
  const block = new RegExp(`interface ${name}(?: extends [^{]+)? \\{([\\s\\S]*?)\\n {0,2}\\}`).exec(text)?.[1] ?? "";
  return [...block.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(\w+)\??:\s*([\s\S]*?);(?:\n|$)/g)].map(
    ([, doc = "", key = "", type = ""]) => [`\`${key}\``, `\`${type.replace(/\s*\| undefined/g, "")}\``, plain(doc)],
  );
}

const plain = (doc: string) => doc.replace(/^\s*\*\s?/gm, "").trim();

/** A message of the catalogue with the names of its values in their places. */
function shown(text: (params: never) => string | undefined): string {
  const value = (name: string): unknown =>
    new Proxy(() => `‹${name}›`, {
      get: (_, key) => (key === Symbol.toPrimitive ? () => `‹${name}›` : value(name)),
      apply: () => `‹${name}›`,
    });
  const params = new Proxy({}, { get: (_, key) => value(String(key)) });
  return (text(params as never) ?? "").replaceAll(/NaN/g, "‹number›");
}
