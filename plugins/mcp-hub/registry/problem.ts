/** Why a service cannot be stored. */
import { isAbsolute } from "node:path";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { holdsMask } from "../vault/mask.ts";

/** Why this cannot be a service; undefined when it can. */
export function findProblem(entry: ServiceEntry): string | undefined {
  if (entry.id === BUILTIN_ID) return undefined;
  if (holdsMask(entry)) return "a mask is in the place of a value; send the value itself, or leave the field out";
  const kind = entry.credential?.kind;
  if (kind !== undefined && (kind === "env") !== (entry.transport === "stdio"))
    return `a credential of kind ${kind} does not fit a service over ${entry.transport}`;
  const badName = unusable(entry);
  if (badName !== undefined) return badName;
  if (entry.transport === "stdio") {
    if (!entry.command) return "a stdio service needs a command";
    if (entry.cwd !== null && !isAbsolute(entry.cwd)) return "cwd is not an absolute path";
    return undefined;
  }
  if (!entry.url) return `a service over ${entry.transport} needs a url`;
  // A reference may replace any part of it; the result is checked when it is used.
  if (entry.url.includes("${")) return undefined;
  return URL.canParse(entry.url) && /^https?:$/.test(new URL(entry.url).protocol)
    ? undefined
    : "url is not an http or https address";
}

/** What a request may call a header, and what a system may call a variable. */
const HEADER = /^[!#$%&'*+.^_`|~\w-]+$/;
const VARIABLE = /^[^=]+$/;

/** Neither a program nor a request takes it, or takes it for something else. */
function unusable({ name, command, args, cwd, env, headers, credential }: ServiceEntry): string | undefined {
  const own = credential && credential.kind !== "bearer" ? credential.name : undefined;
  const variables = [...Object.keys(env), ...(own !== undefined && credential?.kind === "env" ? [own] : [])];
  const fields = [...Object.keys(headers), ...(own !== undefined && credential?.kind === "header" ? [own] : [])];
  const values = [...Object.values(headers), ...(credential && credential.kind !== "env" ? [credential.value] : [])];
  const texts = [name, command ?? "", ...args, cwd ?? "", ...variables, ...Object.values(env), credential?.value ?? ""];
  if (texts.some((text) => text.includes("\0"))) return "it holds a NUL character";
  const variable = variables.find((text) => !VARIABLE.test(text));
  if (variable !== undefined) return `${JSON.stringify(variable)} is no name of a variable`;
  const field = fields.find((text) => !HEADER.test(text));
  if (field !== undefined) return `${JSON.stringify(field)} is no name of a header`;
  return values.some((text) => /[\r\n\0]/.test(text)) ? "the value of a header has more than one line" : undefined;
}
