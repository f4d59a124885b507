/** Classifies SQL by its words: which statements read, which write, and which are refused. */
type SqlVerdict =
  | { kind: "read"; many: boolean }
  | { kind: "write"; many: boolean; counts: boolean }
  | { kind: "refused"; reason: string };

const CHANGING = new Set(["insert", "update", "delete", "replace"]);
const SCHEMA = new Set(["create", "drop", "alter", "reindex", "analyze"]);
const READ_PRAGMAS = new Set(
  "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check integrity_check quick_check page_count page_size freelist_count database_list compile_options".split(
    " ",
  ),
);

interface Token {
  text: string;
  /** Brackets open around it. */
  depth: number;
  quoted: boolean;
}

/** Cost: linear in the text; callers keep the answer beside the prepared statement. */
export function checkSql(sql: string): SqlVerdict {
  const tokens = tokenize(sql);
  const first = tokens.find((token) => token.text !== ";")?.text;
  if (first === undefined) return { kind: "refused", reason: "there is no statement in it" };
  const end = tokens.findIndex((token) => token.text === ";");
  const many = end >= 0 && tokens.slice(end).some((token) => token.text !== ";");
  const statement = end < 0 ? tokens : tokens.slice(0, end);

  if (first === "select" || first === "values" || first === "explain") return { kind: "read", many };
  if (first === "pragma") return checkPragma(statement, many);
  const changes = first === "with" && statement.some((t) => t.depth === 0 && !t.quoted && CHANGING.has(t.text));
  if (first === "with" && !changes) return { kind: "read", many };
  const counts = changes || CHANGING.has(first);
  if (!counts && !SCHEMA.has(first)) return { kind: "refused", reason: `${first.toUpperCase()} is not possible here` };
  if (first === "create" && /^temp(orary)?$/.test(tokens[1]?.text ?? "")) {
    return { kind: "refused", reason: "temporary tables are not kept" };
  }
  return { kind: "write", many, counts };
}

function checkPragma(tokens: Token[], many: boolean): SqlVerdict {
  const name = tokens[1]?.text ?? "";
  if (READ_PRAGMAS.has(name) && !tokens.some((token) => token.text === "=")) return { kind: "read", many };
  return { kind: "refused", reason: `PRAGMA ${name} is not possible here` };
}

/** Words and names in lower case, `;`, `=` and brackets. Comments, text and numbers are left out (they count for nothing here). */
function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|[\p{L}_][\p{L}\p{N}_$]*|[^\s]/gu;
  let depth = 0;
  for (const match of sql.matchAll(pattern)) {
    const text = match[0];
    const name = match[1] ?? match[2] ?? match[3];
    if (name !== undefined) tokens.push({ text: name.toLowerCase(), depth, quoted: true });
    else if (text.startsWith("--") || text.startsWith("/*") || text.startsWith("'")) continue;
    else if (text === ")") tokens.push({ text, depth: --depth, quoted: false });
    else {
      tokens.push({ text: text.toLowerCase(), depth, quoted: false });
      if (text === "(") depth++;
    }
  }
  return tokens;
}
