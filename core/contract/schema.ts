/** Schemas as the kernel sees them: anything that speaks Standard Schema. First-party code uses valibot. */
import { type ErrorIssue, SessarcError } from "../errors/error.ts";

/** The part of Standard Schema v1 the kernel uses. `jsonSchema` is the optional Standard JSON Schema. */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type SchemaTypes<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : undefined;
/** What a client sends. */
export type SchemaInput<S> = SchemaTypes<S> extends { readonly input: infer I } ? I : undefined;
/** What a handler gets. */
export type SchemaOutput<S> = SchemaTypes<S> extends { readonly output: infer O } ? O : undefined;

/** Answers the parsed value, or throws INVALID_INPUT whose issues start with `part` (`query`, `body`, `params`). */
export async function validate<O>(schema: Schema<unknown, O>, value: unknown, part: string): Promise<O> {
  const result = await schema["~standard"].validate(value);
  // Schema libraries take a list for an object without keys.
  if (!result.issues && Array.isArray(value) && !Array.isArray(result.value))
    throw new SessarcError("INVALID_INPUT", { reason: `The ${part} is a list; an object is asked for` });
  if (!result.issues) return result.value;
  const issues = result.issues.map((issue) => toIssue(issue, part));
  const first = issues[0];
  const reason = first ? `${first.path || part}: ${first.message}` : `The ${part} is not valid`;
  throw new SessarcError("INVALID_INPUT", { reason }, { issues });
}

function toIssue(issue: SchemaIssue, part: string): ErrorIssue {
  const keys = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step));
  // A body field is named alone, as in the body the client wrote; query and params say where they stand.
  return { path: (part === "body" ? keys : [part, ...keys]).join("."), message: issue.message };
}
