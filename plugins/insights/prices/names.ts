/** One name for the spellings of a model: tools add providers, regions, dates, dots and settings of their own to it. */

import { BoundedMap } from "sessarc";

/** Characters of a name that is looked into: what is longer is no model's. */
export const LONGEST = 200;
/** A setting of a call that some tools write behind the model it was made with. */
const SETTING = /(?<=^(?:gpt-|o\d|claude-|gemini-[3-9]).*)-(?:thinking|minimal|low|medium|x?high)$/;
/** The same as Antigravity and editors show it: `gpt-5.4-(high)`. */
const SHOWN = /-?\((thinking|minimal|low|medium|x?high)\)$/;
const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;
const TAIL = /(?:-?\[1m\]|(?<=^claude-.*)-1m|-fp8|-latest|-v\d(?::\d)?|@default)$/;

/**
 * `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`, `claude-sonnet-4.5`, `claude-4.5-sonnet-thinking`, `anthropic/claude-sonnet-4.5`
 * and `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. An unknown name loses only its case, provider and date.
 */
export function modelName(id: string): string {
  let name = named.get(id);
  if (name === undefined) {
    name = withoutSettings(id);
    named.set(id, name);
  }
  return name;
}

/** Each is asked for again in every row of a table. */
const named = new BoundedMap<string, string>(1_000);

function withoutSettings(id: string): string {
  if (id.length > LONGEST) return id;
  let name = id.trim().toLowerCase().replace(/\s+/g, "-");
  name = name.slice(name.lastIndexOf("/") + 1).replace(/^(?:[a-z]{2,6}(?:-gov)?\.)?anthropic\./, "");
  for (let before = ""; before !== name; ) {
    before = name;
    name = name.replace(SHOWN, "-$1").replace(TAIL, "").replace(DATE, "").replace(SETTING, "");
  }
  if (name === "") return id;
  return name.startsWith("claude-") ? claudeName(name) : name;
}

/** From the fourth generation on the family stands first. */
function claudeName(name: string): string {
  const dashed = name.replace(/(\d)\.(?=\d)/g, "$1-");
  const [, version = "", family = ""] = /^claude-(\d{1,2}(?:-\d)?)-([a-z]+)$/.exec(dashed) ?? [];
  const named = family !== "" && Number.parseInt(version, 10) >= 4 ? `claude-${family}-${version}` : dashed;
  return named.replace(/^(claude-[a-z]+-\d{1,2})-0$/, "$1");
}
