/** Configuration files as people write them: any layout, comments anywhere, every way of saying the same. */
import fc from "fast-check";

export type Table = { [key: string]: unknown };

/** Decisions about layout, drawn from one number. */
export function dice(seed: number) {
  let state = seed || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return {
    chance: (of: number) => next() < of,
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
  };
}

export interface Written {
  text: string;
  /** Comments that stand outside of servers. */
  comments: string[];
}

interface JsonLayout {
  comments: boolean;
  trailing: boolean;
  /** Whether a path is a server: what stands inside of one goes with it. */
  isServer(path: readonly string[]): boolean;
}

export function writeJson(value: Table, seed: number, layout: JsonLayout): Written {
  const d = dice(seed);
  const eol = d.pick(["\n", "\n", "\r\n"]);
  const indent = d.pick(["  ", "    ", "\t", " "]);
  const dense = d.chance(0.15);
  const kept: string[] = [];
  let count = 0;
  const comment = (inServer: boolean, line: boolean): string => {
    if (!layout.comments || !d.chance(0.15)) return "";
    const name = `note ${++count} "quoted" {`;
    if (!inServer) kept.push(name);
    return line && !dense && d.chance(0.5) ? ` // ${name}${eol}` : ` /* ${name} */ `;
  };
  const write = (one: unknown, path: readonly string[], depth: number, inServer: boolean): string => {
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    const inside = inServer || layout.isServer(path);
    const isList = Array.isArray(one);
    const items = isList ? one.map((item, i) => [String(i), item] as const) : Object.entries(one);
    const flat = dense || (depth > 1 && d.chance(0.4)) || items.length === 0;
    const gap = dense ? "" : " ";
    const line = (at: number) => (flat ? gap : eol + indent.repeat(at));
    const parts = items.map(([key, item], i) => {
      const own = inside || layout.isServer([...path, key]);
      const name = isList ? "" : `${JSON.stringify(key)}${own ? comment(true, false) : ""}:${gap}`;
      const isLast = i === items.length - 1;
      const comma = !isLast || (layout.trailing && d.chance(0.3)) ? `${comment(inside, true)},` : "";
      return (
        comment(inside, true) +
        line(depth + 1) +
        name +
        write(item, [...path, key], depth + 1, own) +
        comma +
        comment(inside, true)
      );
    });
    const [open, close] = isList ? "[]" : "{}";
    return open + parts.join("") + comment(inside, true) + (items.length > 0 ? line(depth) : "") + close;
  };
  const before = layout.comments && d.chance(0.3) ? `// first${eol}` : "";
  if (before) kept.push("first");
  const text = before + write(value, [], 0, false) + (d.chance(0.8) ? eol : "");
  return { text: (d.chance(0.1) ? "\ufeff" : "") + text, comments: kept };
}

/** `rest`: tables and fields beside the servers. */
export function writeToml(rest: Table, servers: Table, seed: number): Written {
  const d = dice(seed);
  const eol = d.pick(["\n", "\n", "\r\n"]);
  const kept: string[] = [];
  let count = 0;
  const note = (keep: boolean) => {
    const name = `note ${++count} "x [mcp_servers.no]`;
    if (keep) kept.push(name);
    return `# ${name}`;
  };
  const key = (name: string) => (/^[A-Za-z0-9_-]+$/.test(name) && d.chance(0.8) ? name : quoted(name));
  const quoted = (text: string) =>
    d.chance(0.3) && /^[\x20-\x26\x28-\x7e]*$/.test(text)
      ? `'${text}'`
      : JSON.stringify(text).replaceAll("\u007f", "\\u007f");
  const value = (one: unknown, keep = false): string => {
    if (typeof one === "string") {
      if (d.chance(0.1) && /^[a-z #[\].=]+$/.test(one)) return `"""${eol}${one}"""`;
      return quoted(one);
    }
    if (Array.isArray(one)) {
      const spread = d.chance(0.3);
      const items = one
        .map((item) => value(item))
        .join(spread ? `,${one.length > 1 && d.chance(0.3) ? ` ${note(keep)}` : ""}${eol}  ` : ", ");
      return spread ? `[${eol}  ${items}${d.chance(0.5) && one.length > 0 ? "," : ""}${eol}]` : `[${items}]`;
    }
    if (typeof one === "object" && one !== null)
      return `{ ${Object.entries(one)
        .map(([name, item]) => `${key(name)} = ${JSON.stringify(item).replaceAll("\u007f", "\\u007f")}`)
        .join(", ")} }`;
    return JSON.stringify(one);
  };
  const lines: string[] = [];
  const push = (line: string, keep: boolean, behind = keep) => {
    if (d.chance(0.15)) lines.push("");
    if (d.chance(0.15)) lines.push(note(keep));
    lines.push(d.chance(0.15) ? `${line} ${note(behind)}` : line);
  };
  const isTable = (one: unknown): one is Table => typeof one === "object" && one !== null && !Array.isArray(one);
  const fields = (table: Table, prefix: readonly string[], keep: boolean) => {
    for (const [name, one] of Object.entries(table))
      push(`${[...prefix, name].map(key).join(".")} = ${value(one, keep)}`, keep);
  };
  const plain = Object.fromEntries(Object.entries(rest).filter(([, one]) => !isTable(one)));
  const tables = Object.entries(rest).filter(([, one]) => isTable(one));
  const form = d.pick(["tables", "tables", "tables", "inline", "dotted", "root", "whole"] as const);
  fields(plain, [], true);
  if (form === "root")
    for (const [name, server] of Object.entries(servers)) fields(server as Table, ["mcp_servers", name], false);
  if (form === "whole")
    push(
      `mcp_servers = { ${Object.entries(servers)
        .map(([name, server]) => `${key(name)} = ${inline(server)}`)
        .join(", ")} }`,
      true,
    );
  const [first, ...others] = tables;
  const table = ([name, one]: [string, unknown]) => {
    lines.push(...(d.chance(0.7) ? [""] : []));
    push(`[${key(name)}]`, true);
    fields(one as Table, [], true);
  };
  if (first && d.chance(0.7)) table(first);
  else if (first) others.push(first);
  if (form === "inline" || form === "dotted") {
    push("[mcp_servers]", true);
    for (const [name, server] of Object.entries(servers))
      if (form === "inline") push(`${key(name)} = ${inline(server)}`, true, false);
      else fields(server as Table, [name], false);
  }
  if (form === "tables")
    for (const [name, server] of Object.entries(servers)) {
      const { env, ...own } = server as Table;
      lines.push(...(d.chance(0.8) ? [""] : []));
      push(`[${["mcp_servers", name].map(key).join(d.chance(0.1) ? " . " : ".")}]`, false);
      // What stands above a header is not inside of it.
      const asTable = env !== undefined && d.chance(0.5);
      fields(asTable || env === undefined ? own : { ...own, env }, [], false);
      if (asTable) {
        lines.push(`[${["mcp_servers", name, "env"].map(key).join(".")}]`);
        fields(env as Table, [], false);
      }
      if (first && d.chance(0.2) && others.includes(first))
        table(others.splice(others.indexOf(first), 1)[0] as [string, unknown]);
    }
  for (const one of others) table(one);
  const text = lines.join(eol) + (d.chance(0.8) ? eol : "");
  return { text: (d.chance(0.1) ? "\ufeff" : "") + text, comments: kept };

  function inline(one: unknown): string {
    if (!isTable(one)) return value(one).includes("\n") ? JSON.stringify(one) : value(one);
    return `{ ${Object.entries(one)
      .map(
        ([name, item]) =>
          `${key(name)} = ${isTable(item) ? inline(item) : JSON.stringify(item).replaceAll("\u007f", "\\u007f")}`,
      )
      .join(", ")} }`;
  }
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(
    "a b",
    'say "hi"',
    "C:\\x\\y",
    "#no comment",
    "//no",
    "/* no */",
    "[mcp_servers.no]",
    "line\nline",
    "$1 $& $$",
    "a",
    "\u007f",
  ),
);
/** Texts without a reference to a variable. */
const plainText = text.filter((one) => !/\$|\{|\0/.test(one));
export const names = fc
  .oneof(
    { weight: 4, arbitrary: fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "Git Hub",
        "b.c",
        "a/b~c",
        "__proto__",
        "constructor",
        'q"q',
        "é",
        "名",
        "x_y",
        "",
        "toString",
      ),
    },
  )
  .filter((name) => name !== "sessarc");
const record = fc.dictionary(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/), plainText, { maxKeys: 3 });

export const server = fc.oneof(
  fc.record({
    kind: fc.constant("stdio" as const),
    command: fc.constantFrom("npx", "uvx", "/opt/x y/run"),
    args: fc.array(plainText, { maxLength: 3 }),
    env: record,
  }),
  fc.record({
    kind: fc.constant("http" as const),
    url: fc.webUrl({ withQueryParameters: false }).filter((url) => !/[$'{}]/.test(url)),
    headers: record,
  }),
);
export type Server = typeof server extends fc.Arbitrary<infer T> ? T : never;

/** What else is in such files. */
export const others = fc.dictionary(
  fc
    .stringMatching(/^[a-z][A-Za-z]{0,8}$/)
    .filter((name) => !["mcp", "projects"].includes(name) && !name.toLowerCase().includes("servers")),
  fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(text, fc.integer()), { maxKeys: 3 }),
  ),
  { maxKeys: 4 },
);
