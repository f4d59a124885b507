import { SessarcError } from "../errors/error.ts";
import { nearest } from "./text.ts";

/** INVALID_INPUT (400): no assistant has this name. It names the nearest of `known`, else all. */
export function unknownAssistant(name: string, known: Iterable<string>): SessarcError {
  const names = [...known];
  const near = nearest(name, names);
  const hint = near ? `did you mean ${near}?` : `there are ${names.join(", ")}`;
  return new SessarcError("INVALID_INPUT", { reason: `No assistant is named ${name}; ${hint}` });
}
