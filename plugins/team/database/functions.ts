/** SQLite's functions and aggregates where PostgreSQL's are called or count otherwise. They are in the schema `sessarc`, which is searched first. */

const sql = (head: string, returns: string, body: string, how = "immutable strict") =>
  `create or replace function ${head} returns ${returns} language sql ${how} parallel safe as $$ ${body} $$;`;

/** `create or replace` where the type allows it, so that each start brings them up to date. */
export const FUNCTIONS = [
  sql("instr(text, text)", "integer", "select strpos($1, $2)"),
  sql("substr(text, bigint)", "text", "select pg_catalog.substr($1, $2::int)"),
  sql("substr(text, bigint, bigint)", "text", "select pg_catalog.substr($1, $2::int, greatest($3, 0)::int)"),
  // With two values and more SQLite's `max` and `min` are no aggregates, and null when one of them is.
  sql("max(anycompatible, anycompatible)", "anycompatible", "select greatest($1, $2)"),
  sql("min(anycompatible, anycompatible)", "anycompatible", "select least($1, $2)"),
  sql("ifnull(anycompatible, anycompatible)", "anycompatible", "select coalesce($1, $2)", "immutable"),
  // Ignores case in every script, as the local archive does: letters in upper case, composed.
  sql(
    "holds(text, text)",
    "boolean",
    `select strpos(upper(normalize($1) collate sessarc.letters), upper(normalize($2) collate sessarc.letters)) > 0`,
  ),
  // The parts of a JSON text, each as SQLite answers it: texts as they are, the rest as JSON, true and false as 1 and 0.
  sql(
    "json_plain(json)",
    "text",
    "select case json_typeof($1) when 'boolean' then (($1 #>> '{}')::boolean)::int::text else $1 #>> '{}' end",
  ),
  sql(
    "json_way(text)",
    "text[]",
    "select coalesce(array_agg(coalesce(m[1], m[2], m[3])), '{}') from regexp_matches($1, '\\.\"([^\"]*)\"|\\.([^.\\[]+)|\\[(\\d+)\\]', 'g') m",
  ),
  sql("json_extract(text, text)", "text", "select sessarc.json_plain($1::json #> sessarc.json_way($2))"),
  `create or replace function json_each(source text, out key text, out value text) returns setof record language plpgsql immutable strict parallel safe as $$
   begin
     if json_typeof(source::json) = 'array' then
       return query select (e.n - 1)::text, sessarc.json_plain(e.v) from json_array_elements(source::json) with ordinality e(v, n);
     elsif json_typeof(source::json) = 'object' then
       return query select e.key, sessarc.json_plain(e.value) from pg_catalog.json_each(source::json) e;
     end if;
   end $$;`,
  sql(
    "json_each(source text, way text, out key text, out value text)",
    "setof record",
    "select e.key, e.value from sessarc.json_each(($1::json #> sessarc.json_way($2))::text) e",
  ),
  sql(
    "add_bool(bigint, boolean)",
    "bigint",
    "select case when $2 is null then $1 else coalesce($1, 0) + $2::int end",
    "immutable",
  ),
  sql("add_text(text, text)", "text", "select $1 || ',' || $2"),
];

/** Aggregates cannot be replaced: each is made where it is missing. */
export const AGGREGATES: readonly (readonly [signature: string, make: string])[] = [
  // PostgreSQL's own sum of bigint is numeric, and a quotient of it no integer.
  [
    "sum(bigint)",
    "create aggregate sum(bigint) (sfunc = int8pl, stype = bigint, combinefunc = int8pl, parallel = safe)",
  ],
  [
    "sum(boolean)",
    "create aggregate sum(boolean) (sfunc = add_bool, stype = bigint, combinefunc = int8pl, parallel = safe)",
  ],
  ["group_concat(text)", "create aggregate group_concat(text) (sfunc = add_text, stype = text)"],
];
