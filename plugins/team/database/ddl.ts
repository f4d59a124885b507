/**
 * A plugin's schema step as PostgreSQL's: tables get the tenant, and where their rows belong to a session its space. Each has row-level security, which
 * holds for the owner of the tables, too.
 */
import { indexTerms, TYPES, translate } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import {
  closing,
  sign,
  splitAtCommas,
  splitStatements,
  startsWith,
  type Token,
  tokenize,
  toSql,
  word,
} from "./tokens.ts";

/** Columns that name the session of a row, and the function that looks up its space. */
const OF_SESSION = ["session", "session_id"] as const;

/** Tables without a session column: what a member sees of them. Only the writer sees other tables of that kind. */
const SEEN: Readonly<Record<string, string>> = {
  usage_model:
    "exists (select 1 from usage_total t where t.tenant = usage_model.tenant and t.model = usage_model.model)",
};

/** What a table has beside the plugin's own indexes: for a policy, for the search, and for kernels that follow changes. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  session: [
    "create trigger team_change after insert or update or delete on session for each row execute function team_note_change()",
  ],
  usage_total: ["create index team_usage_total_model on usage_total (tenant, model, space)"],
  search_words: [
    "create index team_search_words on search_words using gin (words gin_trgm_ops)",
    // LIKE may show what it compares (in an error), so PostgreSQL checks a policy before it, row by row and without the index. This function asks as the
    // owner of the table and has the condition of the policy in it.
    `create function team_candidates(patterns text) returns table (session text) language plpgsql stable security definer
     set search_path = sessarc, pg_temp as $$
     declare
       asked text := 'select w.session from search_words w where w.tenant = $1 and w.space = any ($2)';
       pattern text;
     begin
       for pattern in select json_array_elements_text(patterns::json) loop
         asked := asked || format(' and w.words like %L', pattern);
       end loop;
       return query execute asked using nullif(current_setting('sessarc.tenant', true), '')::bigint,
         nullif(current_setting('sessarc.spaces', true), '')::bigint[];
     end $$`,
    "revoke execute on function team_candidates(text) from public",
    "grant execute on function team_candidates(text) to sessarc_member",
  ],
};

/** Columns that an index holds only so that a query need not read the table: an index row of PostgreSQL has 2,700 bytes at most. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = { session_sort: ["name", "title", "first_prompt"] };

const TENANT = "(select current_setting('sessarc.tenant', true))::bigint";
const SPACES = "(select current_setting('sessarc.spaces', true))::bigint[]";

/** Statements for one step, in order. `schema` is that before the step. */
export function translateStep(step: string, schema: Schema): string[] {
  const statements = splitStatements(tokenize(step));
  // Policies that ask another table come after all tables of the step.
  const made = statements.flatMap((tokens) => (startsWith(tokens, 0, "create", "table") ? [toName(tokens)] : []));
  return [
    ...statements.flatMap((tokens) => translateDdl(tokens, schema)),
    ...made.flatMap((name) => {
      const condition = SEEN[name];
      return [...(condition ? [toPolicy(name, condition)] : []), ...(BESIDE[name] ?? [])];
    }),
  ];
}

const toName = (tokens: readonly Token[]): string =>
  tokens[startsWith(tokens, 2, "if", "not", "exists") ? 5 : 2]?.text ?? "";

const toPolicy = (name: string, condition: string): string =>
  `create policy team_member on ${name} for select to sessarc_member using (tenant = ${TENANT} and ${condition})`;

function translateDdl(tokens: Token[], schema: Schema): string[] {
  if (startsWith(tokens, 0, "create", "table")) return createTable(tokens);
  if (startsWith(tokens, 0, "create", "index")) return [createIndex(tokens, 2, schema)];
  if (startsWith(tokens, 0, "create", "unique", "index")) return [createIndex(tokens, 3, schema)];
  if (startsWith(tokens, 0, "create", "trigger")) return createTrigger(tokens, schema);
  if (startsWith(tokens, 0, "alter", "table")) return [toSql(tokens.map(typeOf))];
  if (startsWith(tokens, 0, "drop")) return [toSql(tokens)];
  return [translate(toSql(tokens), [], schema).sql];
}

const typeOf = (token: Token): Token =>
  token.kind === "word"
    ? word(TYPES[token.text.toLowerCase()] ?? (token.text.toLowerCase() === "text" ? 'text collate "C"' : token.text))
    : token;

const CONSTRAINTS = ["primary", "unique", "check", "foreign", "constraint"];

function createTable(tokens: readonly Token[]): string[] {
  const exists = startsWith(tokens, 2, "if", "not", "exists") ? 5 : 2;
  const name = toName(tokens);
  const open = exists + 1;
  const end = closing(tokens, open);
  const columns: string[] = [];
  const keys: string[] = [];
  const names: string[] = [];
  const withoutRowid = startsWith(tokens, end + 1, "without", "rowid");
  let numbered = false;
  for (const part of splitAtCommas(tokens.slice(open + 1, end))) {
    const first = part[0]?.text.toLowerCase() ?? "";
    if (CONSTRAINTS.includes(first)) keys.push(withTenant(part));
    else {
      names.push(first);
      const { column, key, counts } = toColumn(part);
      columns.push(column);
      if (key) keys.push(key);
      numbered ||= counts;
    }
  }
  // The order in which rows came, which SQLite has in each such table.
  if (!withoutRowid && !numbered) columns.push("rowid bigint generated by default as identity");
  columns.push(`tenant bigint not null default (current_setting('sessarc.tenant', true))::bigint`);
  const session = name === "session" ? "id" : OF_SESSION.find((one) => names.includes(one));
  if (session) columns.push("space bigint not null");
  return [`create table ${name} (${[...columns, ...keys].join(", ")})`, ...protect(name, session)];
}

/** A column, the key that it is alone, and whether it numbers itself. */
function toColumn(part: readonly Token[]): { column: string; key: string | undefined; counts: boolean } {
  const name = part[0]?.text ?? "";
  let rest = part.slice(1).map(typeOf);
  const take = (...words: string[]) => {
    const at = rest.findIndex((_, i) => startsWith(rest, i, ...words));
    if (at < 0) return false;
    rest = [...rest.slice(0, at), ...rest.slice(at + words.length)];
    return true;
  };
  const isPrimary = take("primary", "key");
  const isUnique = take("unique");
  take("collate", "nocase");
  take("autoincrement");
  const counts = isPrimary && rest[0]?.text === "bigint";
  const key = isPrimary ? `primary key (tenant, ${name})` : isUnique ? `unique (tenant, ${name})` : undefined;
  const column = `${name} ${toSql(rest)}${counts ? " generated by default as identity" : ""}`;
  return { column, key, counts };
}

const withTenant = (part: readonly Token[]): string =>
  toSql(
    part.flatMap((token, i) =>
      i > 0 && part.findIndex(({ text }) => text === "(") === i && /^(?:primary|unique)$/i.test(part[0]?.text ?? "")
        ? [token, word("tenant"), sign(",")]
        : [token],
    ),
  );

/** Rights and policies of a plugin's table. */
function protect(name: string, session: string | undefined): string[] {
  const tenant = `tenant = ${TENANT}`;
  return [
    `alter table ${name} enable row level security`,
    `alter table ${name} force row level security`,
    `grant select, insert, update, delete on ${name} to sessarc_writer`,
    `grant select on ${name} to sessarc_member`,
    `create policy team_owner on ${name} to current_user using (true) with check (true)`,
    `create policy team_writer on ${name} to sessarc_writer using (${tenant}) with check (${tenant})`,
    ...(session ? [toPolicy(name, `space = any (${SPACES})`)] : []),
    ...(session
      ? [`create trigger team_space before insert on ${name} for each row execute function team_space_of_${session}()`]
      : []),
  ];
}

/** `at`: where the name is, or `if not exists`. */
function createIndex(tokens: readonly Token[], at: number, schema: Schema): string {
  const open = tokens.findIndex(({ text }) => text === "(");
  const end = closing(tokens, open);
  const left = LEFT_OUT[tokens[at]?.text ?? ""] ?? [];
  const terms = splitAtCommas(tokens.slice(open + 1, end)).filter((term) => !left.includes(term[0]?.text ?? ""));
  const list = terms.flatMap((term, i) => (i === 0 ? term : [sign(","), ...term]));
  const where = translate(toSql(tokens.slice(end + 1)), [], schema).sql;
  return `${toSql(tokens.slice(0, open))} (tenant, ${toSql(indexTerms(list, schema))}) ${where}`;
}

/** `create trigger t after update of a on b begin …; end` as a function and its trigger. */
function createTrigger(tokens: readonly Token[], schema: Schema): string[] {
  const name = tokens[2]?.text ?? "";
  const begin = tokens.findIndex((token) => token.kind === "word" && token.text.toLowerCase() === "begin");
  const body = splitStatements(tokens.slice(begin + 1, -1)).map(
    (statement) => `${translate(toSql(statement), [], schema).sql};`,
  );
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body.join(" ")} return null; end $$`,
    `${toSql(tokens.slice(0, begin))} for each row execute function ${name}()`,
  ];
}
