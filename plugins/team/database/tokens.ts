/** SQL as words: enough of it to rewrite a statement without touching what is inside texts. */

export interface Token {
  kind: "word" | "name" | "text" | "number" | "param" | "sign";
  /** A word is in lower case where it was written so; a name has its quotes. */
  text: string;
}

const PATTERN =
  /(?<space>\s+|--[^\n]*|\/\*[\s\S]*?\*\/)|(?<text>[xX]?'(?:[^']|'')*')|(?<name>"(?:[^"]|"")*")|(?<param>\?\d*)|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_$]*)|(?<sign>\|\||<>|<=|>=|!=|==|->>|->|::|.)/gu;

/** Comments and white space are left out. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const { groups = {} } of sql.matchAll(PATTERN)) {
    for (const kind of ["text", "name", "param", "number", "word", "sign"] as const) {
      const text = groups[kind];
      if (text !== undefined) tokens.push({ kind, text });
    }
  }
  return tokens;
}

export const toSql = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join(" ");

export const word = (text: string): Token => ({ kind: "word", text });
export const sign = (text: string): Token => ({ kind: "sign", text });

/** Whether the tokens from `at` on are these words or signs. */
export const startsWith = (tokens: readonly Token[], at: number, ...words: readonly string[]): boolean =>
  words.every((text, i) => {
    const token = tokens[at + i];
    return token !== undefined && token.kind !== "text" && token.kind !== "name" && token.text.toLowerCase() === text;
  });

/** Where the bracket that opens at `at` closes. */
export function closing(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let i = at; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind !== "sign") continue;
    if (token.text === "(") depth++;
    else if (token.text === ")" && --depth === 0) return i;
  }
  return tokens.length;
}

/** Parts between commas outside of brackets. */
export function splitAtCommas(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === "sign" && token.text === "(") depth++;
    if (token.kind === "sign" && token.text === ")") depth--;
    if (depth === 0 && token.kind === "sign" && token.text === ",") parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** Statements of a text; semicolons between `begin` and `end` of a trigger do not separate. */
export function splitStatements(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [[]];
  let block = false;
  let cases = 0;
  for (const token of tokens) {
    const statement = statements.at(-1) ?? [];
    if (token.kind === "word") {
      const text = token.text.toLowerCase();
      if (text === "begin" && statement[0]?.text.toLowerCase() === "create") block = true;
      else if (text === "case") cases++;
      else if (text === "end") {
        if (cases > 0) cases--;
        else block = false;
      }
    }
    if (!block && token.kind === "sign" && token.text === ";") statements.push([]);
    else statement.push(token);
  }
  return statements.filter((statement) => statement.length > 0);
}
