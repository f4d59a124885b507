/**
 * SQLite's SQL as PostgreSQL's, statement by statement. Plugins write the part of SQL that both share, as far as it is as quick; this file has the
 * rest, each difference as one rule. What functions and aggregates can bridge is in `functions.ts` and needs no rule.
 *
 * What has no rule, because both engines take another form: `on conflict … do` for `insert or replace` and `insert or ignore` (with `where true` after
 * a `select`), no `limit` for a negative one, `bigint` and `double precision` for the types of a cast. PostgreSQL refuses the first by its grammar
 * and a negative limit when it runs; its `integer` has 32 bits and its `real` 24.
 */
import type { SqlValue } from "sessarc";
import type { Param } from "./engine.ts";
import type { Schema, Table } from "./schema.ts";
import { closing, sign, splitAtCommas, startsWith, type Token, tokenize, toSql, word } from "./tokens.ts";

interface Rule {
  name: string;
  /** Why the text cannot stay. */
  why: string;
  apply(tokens: Token[], schema: Schema): Token[];
}

export interface Translated {
  sql: string;
  /** Which of the caller's parameters each `$n` is. */
  order: readonly number[];
  /** Places whose bytes are a text (`cast(? as text)`). */
  texts: ReadonlySet<number>;
  /** First word, in lower case. */
  verb: string;
}

const isSign = (token: Token | undefined, text: string) => token?.kind === "sign" && token.text === text;
const isWord = (token: Token | undefined, ...texts: readonly string[]) =>
  token?.kind === "word" && texts.includes(token.text.toLowerCase());

/** Replaces what begins at some tokens: `change` answers the new tokens and how many it takes, or nothing. */
function rewrite(tokens: Token[], change: (at: number) => [Token[], number] | undefined): Token[] {
  const out: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    const [made, taken] = change(at) ?? [tokens.slice(at, at + 1), 1];
    out.push(...made);
    at += taken;
  }
  return out;
}

const KEYWORDS_AFTER_TABLE = new Set(
  "where join left inner cross on using group order limit union set values select indexed natural having except intersect as window default".split(
    " ",
  ),
);

/** Tables of a statement by the name they have in it. */
function toTables(tokens: readonly Token[], schema: Schema): Map<string, Table> {
  const found = new Map<string, Table>();
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    const table = schema.tables.get(token.text.toLowerCase());
    const before = tokens[i - 1];
    if (!table || !(isWord(before, "from", "join", "into", "update") || isSign(before, ","))) continue;
    let next = tokens[i + 1];
    if (isWord(next, "as")) next = tokens[i + 2];
    const alias = next?.kind === "word" && !KEYWORDS_AFTER_TABLE.has(next.text.toLowerCase()) ? next.text : token.text;
    found.set(alias.toLowerCase(), table);
  }
  return found;
}

/** Columns of an upsert's key begin with the tenant, as every unique key does. */
function toConflict(tokens: readonly Token[], schema: Schema) {
  const into = tokens.findIndex((token, i) => isWord(token, "into") && i < 5);
  const table = schema.tables.get(tokens[into + 1]?.text.toLowerCase() ?? "");
  return { into, table };
}

/** Whether no row has null in it: then null needs no place in an order. */
function neverNull(term: readonly Token[], tokens: readonly Token[], schema: Schema): boolean {
  if (tokens.some((token) => isWord(token, "left"))) return false;
  const [first, dot, second] = term;
  const name = term.length === 1 ? first : term.length === 3 && isSign(dot, ".") ? second : undefined;
  if (name?.kind === "number") return false;
  return name !== undefined && schema.isNeverNull(name.text.toLowerCase());
}

/** The end of a list that begins at `at`: a bracket, or a word that begins another clause. */
function endOfList(tokens: readonly Token[], at: number): number {
  let i = at;
  while (i < tokens.length) {
    const token = tokens[i];
    if (isSign(token, "(")) i = closing(tokens, i);
    else if (isSign(token, ")") || isSign(token, ";")) return i;
    else if (isWord(token, "limit", "union", "rows", "range", "where", "having", "order", "offset", "except", "on"))
      return i;
    i++;
  }
  return i;
}

/** The terms of a list, each changed; commas between them. */
function mapList(tokens: readonly Token[], change: (term: Token[]) => Token[]): Token[] {
  return splitAtCommas(tokens).flatMap((term, i) => (i === 0 ? change(term) : [sign(","), ...change(term)]));
}

const withNulls = (term: Token[], all: readonly Token[], schema: Schema): Token[] => {
  if (term.some((token) => isWord(token, "nulls"))) return term;
  const descends = isWord(term.at(-1), "desc");
  const bare = isWord(term.at(-1), "desc", "asc") ? term.slice(0, -1) : term;
  if (neverNull(bare, all, schema)) return term;
  return [...term, word("nulls"), word(descends ? "last" : "first")];
};

/** Of `create index`: terms as an order by has them. */
export const indexTerms = (terms: readonly Token[], schema: Schema): Token[] =>
  mapList(terms, (term) => withNulls(term, terms, schema));

export const RULES: readonly Rule[] = [
  {
    name: "index hints",
    why: "PostgreSQL has none",
    apply: (tokens) => rewrite(tokens, (at) => (startsWith(tokens, at, "indexed", "by") ? [[], 3] : undefined)),
  },
  {
    name: "in nothing",
    why: "a list has at least one value",
    apply: (tokens) =>
      rewrite(tokens, (at) => {
        const not = isWord(tokens[at], "not");
        const list = at + (not ? 1 : 0);
        if (!isWord(tokens[list], "in") || !isSign(tokens[list + 1], "(") || !isSign(tokens[list + 2], ")"))
          return undefined;
        return [tokenize(not ? "<> all ('{}')" : "= any ('{}')"), not ? 4 : 3];
      }),
  },
  {
    name: "like ignores case",
    why: "SQLite's LIKE ignores the case of ASCII letters and has no default escape character",
    apply: (tokens) =>
      rewrite(tokens, (at) => {
        if (!isWord(tokens[at], "like")) return undefined;
        const operand = tokens[at + 1];
        if (!operand) return undefined;
        const escapes = isWord(tokens[at + 2], "escape");
        return [
          [word("ilike"), operand, ...(escapes ? [] : [word("escape"), { kind: "text" as const, text: "''" }])],
          2,
        ];
      }),
  },
  {
    name: "groups by a key",
    why: "columns that depend on a group's key may be read as they are, but not of a view, which a member reads instead of some tables",
    apply: (tokens, schema) => {
      const tables = toTables(tokens, schema);
      return rewrite(tokens, (at) => {
        if (!startsWith(tokens, at, "group", "by")) return undefined;
        const end = endOfList(tokens, at + 2);
        const extra: Token[] = [];
        for (const term of splitAtCommas(tokens.slice(at + 2, end))) {
          const [alias, dot, column] = term;
          if (term.length !== 3 || !isSign(dot, ".")) continue;
          const table = tables.get(alias?.text.toLowerCase() ?? "");
          if (table?.shared && table.key.length === 1 && table.key[0] === column?.text.toLowerCase() && alias)
            for (const name of ["tenant", ...table.columns]) extra.push(sign(","), alias, sign("."), word(name));
        }
        return [[...tokens.slice(at, end), ...extra], end - at];
      });
    },
  },
  {
    name: "null in an order",
    why: "for SQLite null is the smallest value, for PostgreSQL the largest",
    apply: (tokens, schema) =>
      rewrite(tokens, (at) => {
        if (!startsWith(tokens, at, "order", "by")) return undefined;
        const end = endOfList(tokens, at + 2);
        const terms = mapList(tokens.slice(at + 2, end), (term) => withNulls(term, tokens, schema));
        return [[word("order"), word("by"), ...terms], end - at];
      }),
  },
  {
    name: "keys of the tenant",
    why: "every unique key begins with the tenant",
    apply: (tokens, schema) => {
      const { table } = toConflict(tokens, schema);
      if (!table?.shared) return tokens;
      return rewrite(tokens, (at) =>
        startsWith(tokens, at, "on", "conflict", "(")
          ? [[word("on"), word("conflict"), sign("("), word("tenant"), sign(",")], 3]
          : undefined,
      );
    },
  },
  {
    name: "names in two cases",
    why: "PostgreSQL makes names lower case unless they are quoted",
    apply: (tokens) =>
      tokens.map((token) =>
        token.kind === "word" && /[a-z]/.test(token.text) && /[A-Z]/.test(token.text)
          ? { kind: "name", text: `"${token.text}"` }
          : token,
      ),
  },
];

/** SQLite's types as PostgreSQL's. */
export const TYPES: Readonly<Record<string, string>> = {
  integer: "bigint",
  int: "bigint",
  real: "double precision",
  blob: "bytea",
};

/** Type that the statement gives a parameter, by its value. */
const toCast = (value: string | number | Uint8Array): string => {
  if (typeof value === "string") return '::text collate "C"';
  if (typeof value === "number") return Number.isSafeInteger(value) ? "::bigint" : "::double precision";
  return "::bytea";
};

export const toTypes = (params: readonly SqlValue[]): string =>
  params.map((value) => (value === null ? "null" : toCast(value))).join();

/** Parameters in the order of `$n`. */
export const toParams = ({ order, texts }: Translated, params: readonly SqlValue[]): Param[] =>
  order.map((index, place) => {
    const value = params[index] ?? null;
    return toParam(value instanceof Uint8Array && texts.has(place) ? Buffer.from(value).toString("utf8") : value);
  });

/** A parameter as it is sent. PostgreSQL's text has no zero character, and its JSON no half of a surrogate pair: both become U+FFFD. */
function toParam(value: SqlValue): Param {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return value;
  const text = value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  return /^[[{]/.test(text) && text.includes("\\u") ? text.replace(UNWRITABLE, "$1\\ufffd") : text;
}
/** `\u0000` and lone surrogates in JSON, after an even number of backslashes. */
const UNWRITABLE =
  /((?<!\\)(?:\\\\)*)\\u(?:0000|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})/g;

/** One statement, whose parameters have the types of `params`. */
export function translate(sql: string, params: readonly SqlValue[], schema: Schema): Translated {
  let tokens = tokenize(sql);
  while (isSign(tokens.at(-1), ";")) tokens.pop();
  for (const rule of RULES) tokens = rule.apply(tokens, schema);
  return finish(tokens, params);
}

/** Numbers the parameters. */
function finish(tokens: readonly Token[], params: readonly SqlValue[]): Translated {
  const order: number[] = [];
  const places = new Map<number, number>();
  const texts = new Set<number>();
  let next = 0;
  const made = tokens.map((token, at): Token => {
    if (token.kind !== "param") return token;
    const index = token.text === "?" ? next : Number(token.text.slice(1)) - 1;
    next = Math.max(next, index + 1);
    const value = params[index] ?? null;
    // As a word null takes the type that its place asks for.
    if (value === null) return word("null");
    let place = places.get(index);
    if (place === undefined) {
      order.push(index);
      place = order.length;
      places.set(index, place);
    }
    const isText =
      value instanceof Uint8Array &&
      startsWith(tokens, at - 2, "cast", "(") &&
      startsWith(tokens, at + 1, "as", "text");
    if (isText) texts.add(place - 1);
    return { kind: "param", text: `$${place}${toCast(isText ? "" : value)}` };
  });
  return { sql: toSql(made), order, texts, verb: tokens[0]?.text.toLowerCase() ?? "" };
}
