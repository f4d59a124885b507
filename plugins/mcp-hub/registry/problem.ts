/** What keeps a service from being kept. */
import { isAbsolute } from "node:path";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { holdsMask } from "../vault/mask.ts";

/** Why this cannot be a service; undefined when it can. */
export function problemOf(entry: ServiceEntry): string | undefined {
  if (entry.id === BUILTIN_ID) return undefined;
  if (holdsMask(entry)) return "a mask stands where a value has to be; send the value itself, or leave the field out";
  const kind = entry.credential?.kind;
  if (kind !== undefined && (kind === "env") !== (entry.transport === "stdio"))
    return `a credential of kind ${kind} does not fit a service over ${entry.transport}`;
  if (entry.transport === "stdio") {
    if (!entry.command) return "a stdio service needs a command";
    if (entry.cwd !== null && !isAbsolute(entry.cwd)) return "cwd is not an absolute path";
    return [entry.command, ...entry.args].some((part) => part.includes("\0")) ? "it holds a NUL character" : undefined;
  }
  if (!entry.url) return `a service over ${entry.transport} needs a url`;
  // A reference may stand for any part of it; what it turns out to be is checked when it is used.
  if (entry.url.includes("${")) return undefined;
  return URL.canParse(entry.url) && /^https?:$/.test(new URL(entry.url).protocol)
    ? undefined
    : "url is not an http or https address";
}
