/** What a plugin asks in SQL is its own, or what the archive's README lists for others. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const plugins = fileURLToPath(new URL("../../plugins", import.meta.url));
const sources = readdirSync(plugins, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ plugin: path.split(/[\\/]/)[0] ?? "", text: readFileSync(join(plugins, path), "utf8") }));

/** Plugins by the tables and views that their migrations make. */
const owners = new Map<string, Set<string>>();
for (const { plugin, text } of sources)
  for (const [, name = ""] of text.matchAll(/\bcreate (?:table|view) (?:if not exists )?([a-z_]+)/g))
    owners.set(name, new Set([...(owners.get(name) ?? []), plugin]));

const said = /^Tables that other plugins ask in SQL .*?: (.*?); the team's server,.* also (.*)$/m.exec(
  readFileSync(join(plugins, "archive/README.md"), "utf8"),
);
const names = (text: string | undefined) =>
  [...(text ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name).sort();
const [forAll, forTeam] = [names(said?.[1]), names(said?.[2])];

/** Tables of others, by whether the team asks them alone. Adapters read databases of assistants, whose tables may have the same names. */
function asked(verbs: RegExp): { all: string[]; team: string[] } {
  const by = new Map<string, Set<string>>();
  for (const { plugin, text } of sources) {
    if (/\bdefineAdapter\(|openSqliteFile|SqliteFile\b/.test(text)) continue;
    // A sentence is no SQL: it begins with a capital or, as a heading, with a mark.
    for (const [, name = ""] of text.replace(/"[#A-Z][^"\n]*"/g, '""').matchAll(verbs)) {
      const owner = owners.get(name);
      if (owner && !owner.has(plugin)) by.set(name, new Set([...(by.get(name) ?? []), plugin]));
    }
  }
  const isTeams = ([, who]: [string, Set<string>]) => [...who].every((plugin) => plugin === "team");
  const sorted = (kept: [string, Set<string>][]) => kept.map(([name]) => name).sort();
  return { all: sorted([...by].filter((one) => !isTeams(one))), team: sorted([...by].filter(isTeams)) };
}

it("names exactly the tables of others that plugins read", () => {
  expect(asked(/\b(?:from|join)\s+([a-z_]+)\b/g)).toEqual({ all: forAll, team: forTeam });
});

it("no plugin reads JSON of a session's row, but rescue the names of its files and the team what its server stores", () => {
  const json = "(usage|inherited|evidence|logged|skipped|parts|companions)";
  const qualified = new RegExp(`\\b(?:s|session)\\.${json}\\b`, "g");
  const plain = new RegExp(`\\bselect [^(]*\\b${json}\\b[^(]* from session\\b`, "g");
  const found = new Set<string>();
  for (const { plugin, text } of sources) {
    if (plugin === "archive" || /\bdefineAdapter\(|openSqliteFile|SqliteFile\b/.test(text)) continue;
    for (const [sql] of text.matchAll(/`[^`]*`|"[^"\n]*"/g)) {
      if (!/\b(?:from|join) session\b|\bsession\.id\b/.test(sql)) continue;
      for (const pattern of [qualified, plain])
        for (const [, name = ""] of sql.matchAll(pattern)) found.add(`${plugin} ${name}`);
    }
  }
  expect([...found].sort()).toEqual(["rescue companions", "team parts"]);
});

it("no plugin writes what another one owns, but the team's server, which marks sessions that are to be counted again", () => {
  expect(asked(/\b(?:insert (?:or \w+ )?into|replace into|delete from|update)\s+([a-z_]+)\b/g)).toMatchObject({
    all: [],
  });
});
