/** Files of every tool in any layout: taken over, nothing else of them touched, and put back byte for byte. */
import { chmod, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse as parseToml } from "@decimalturn/toml-patch";
import fc from "fast-check";
import * as jsonc from "jsonc-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireScanEntry } from "../../plugins/mcp-hub/index.ts";
import { LONG } from "../rounds.ts";
import { names, others, type Server, server, type Table, writeJson, writeToml } from "./_config-texts.ts";
import { startConfigs } from "./_configs.ts";

interface Format {
  file: string;
  syntax: "json" | "jsonc" | "toml";
  /** Where servers stand. */
  at: readonly string[];
  entry(server: Server): Table;
  canDisable?: boolean;
}

const pick = (table: Table) => Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined));
const common = ({ kind, ...rest }: Server) => (kind === "stdio" ? rest : { type: "http", ...rest });
const FORMATS: Format[] = [
  { file: ".claude.json", syntax: "json", at: ["mcpServers"], entry: common },
  {
    file: ".codex/config.toml",
    syntax: "toml",
    at: ["mcp_servers"],
    entry: (one) =>
      one.kind === "stdio" ? pick({ ...one, kind: undefined }) : { url: one.url, http_headers: one.headers },
    canDisable: true,
  },
  { file: ".cursor/mcp.json", syntax: "jsonc", at: ["mcpServers"], entry: common },
  {
    file: ".gemini/settings.json",
    syntax: "jsonc",
    at: ["mcpServers"],
    entry: (one) => (one.kind === "stdio" ? common(one) : { httpUrl: one.url, headers: one.headers }),
  },
  { file: ".config/opencode/opencode.jsonc", syntax: "jsonc", at: ["mcp"], entry: openCode, canDisable: true },
  {
    file: ".config/opencode/opencode.json",
    syntax: "jsonc",
    at: ["mcp", "servers"],
    entry: openCode,
    canDisable: true,
  },
  {
    file: ".copilot/mcp-config.json",
    syntax: "json",
    at: ["mcpServers"],
    entry: (one) => ({ ...common(one), tools: ["*"] }),
  },
  { file: ".config/Code/User/mcp.json", syntax: "jsonc", at: ["servers"], entry: common },
  // Not in the quick run, whose seed is of the others.
  ...(LONG
    ? [{ file: ".config/Code/User/settings.json", syntax: "jsonc" as const, at: ["mcp", "servers"], entry: common }]
    : []),
];

function openCode(one: Server): Table {
  if (one.kind === "http") return { type: "remote", url: one.url, headers: one.headers };
  return { type: "local", command: [one.command, ...one.args], environment: one.env };
}

const file = fc.record({
  format: fc.constantFrom(...FORMATS),
  servers: fc.uniqueArray(fc.tuple(names, server), { minLength: 1, maxLength: 4, selector: ([name]) => name }),
  rest: others,
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
});
const home = fc.record({
  files: fc.uniqueArray(file, { minLength: 1, maxLength: 7, selector: ({ format }) => format.file }),
  mode: fc.constantFrom(
    "replace" as const,
    "replace" as const,
    "replace" as const,
    "disable" as const,
    "import" as const,
  ),
  chosen: fc.constantFrom("all" as const, "all" as const, "some" as const),
});

function write({ format, servers, rest, seed }: typeof file extends fc.Arbitrary<infer T> ? T : never) {
  const entries = Object.fromEntries(servers.map(([name, one]) => [name, format.entry(one)]));
  if (format.syntax === "toml") return writeToml(rest, entries, seed);
  const [first = "", second] = format.at;
  const holder = second === undefined ? entries : { [second]: entries };
  const depth = format.at.length + 1;
  const isServer = (path: readonly string[]) => path.length === depth && format.at.every((key, i) => path[i] === key);
  const value = seed % 2 === 0 ? { ...rest, [first]: holder } : { [first]: holder, ...rest };
  return writeJson(value, seed, { comments: format.syntax === "jsonc", trailing: format.syntax === "jsonc", isServer });
}

const parse = (text: string, syntax: Format["syntax"]): unknown =>
  syntax === "toml"
    ? structuredClone(parseToml(text.replace(/^\ufeff/, "")))
    : jsonc.parse(text.replace(/^\ufeff/, ""), [], { allowTrailingComma: true });

/** Without the object that holds servers: nothing of the rest may change. */
function without(value: unknown, at: readonly string[]): unknown {
  const copy = structuredClone(value) as Table;
  delete at.slice(0, -1).reduce<Table>((holder, key) => holder[key] as Table, copy)[at.at(-1) ?? ""];
  return copy;
}
const toHolder = (value: unknown, at: readonly string[]) =>
  at.reduce<unknown>((holder, key) => (holder as Table)[key], value) as Table;

let t: Awaited<ReturnType<typeof startConfigs>>;
beforeAll(async () => {
  t = await startConfigs();
});
afterAll(() => t?.close());

let files = 0;

describe("takeover and restore", () => {
  it("leave any file byte for byte as it was, and nothing to do in between", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(home, async ({ files: all, mode, chosen }) => {
        round++;
        const written = await Promise.all(
          all.map(async (one) => {
            const { text, comments } = write(one);
            const path = await t.put(one.format.file, text);
            await chmod(path, 0o640);
            return { ...one, text, comments, path };
          }),
        );
        files += written.length;
        const before = await t.scan();
        expect(before.problems).toEqual([]);
        const named = written.flatMap(({ servers }) => servers);
        expect(before.entries).toHaveLength(named.length);
        const wanted = before.entries.filter((entry, i) => entry.importable && (chosen === "all" || i % 2 === 0));
        const able = (entry: WireScanEntry) =>
          mode !== "disable" || written.some((one) => one.path === entry.file && one.format.canDisable);
        const taken = wanted.filter(able);
        if (taken.length === 0) {
          for (const one of written) await rm(one.path);
          return;
        }
        const resolved = taken.map((entry, i) => ({
          key: entry.key,
          resolution: entry.class === "Conflict" ? `rename:r${round}-${i}` : "import",
        }));
        const answer = await t.takeover(taken, { entries: resolved, mode });
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        for (const one of written) {
          const text = await readFile(one.path, "utf8");
          const { syntax, at } = one.format;
          const [was, is] = [parse(one.text, syntax), parse(text, syntax)];
          expect(without(is, at)).toEqual(without(was, at));
          const gone = taken.filter(({ file }) => file === one.path).map(({ name }) => name);
          if (mode === "import" || gone.length === 0) expect(text).toBe(one.text);
          else {
            const { sessarc, ...left } = toHolder(is, at);
            expect(sessarc).toBeDefined();
            const stay = Object.entries(toHolder(was, at)).filter(
              ([name]) => mode === "disable" || !gone.includes(name),
            );
            expect(Object.keys(left).sort()).toEqual(stay.map(([name]) => name).sort());
            for (const [name, value] of stay)
              if (!gone.includes(name)) expect(isDeepStrictEqual(left[name], value)).toBe(true);
          }
          for (const comment of one.comments) expect(text).toContain(comment);
          expect((await stat(one.path)).mode & 0o777).toBe(0o640);
        }
        const after = await t.scan();
        const left = after.entries.filter(
          ({ key, class: of }) => of !== "Unchanged" && taken.some((entry) => entry.key === key),
        );
        expect(left).toEqual([]);
        const restored = await t.restore(answer.body.backups.map(({ id }) => id));
        expect(restored.status, JSON.stringify(restored.body)).toBe(200);
        for (const one of written) {
          expect(await readFile(one.path, "utf8")).toBe(one.text);
          await rm(one.path);
        }
        for (const { id } of await t.kernel.inject("mcp").services.list())
          if (id !== "sessarc") await t.kernel.inject("mcp").services.remove(id);
        await rm(join(t.home, "data/files/backups"), { recursive: true });
      }),
      // A quarter of them would take the time of many other tests.
      // The seed is one that found a comment lost behind an empty array of TOML.
      { numRuns: LONG ? 170 : 12, endOnFailure: true, ...(!LONG && { seed: 735_016_036 }) },
    );
    expect(files).toBeGreaterThan(LONG ? 500 : 12);
  });
});
