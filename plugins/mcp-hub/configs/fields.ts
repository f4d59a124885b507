/** Entries as they may be shown, field by field. */
import { maskArgs, maskUrl, maskValues } from "../vault/mask.ts";
import type { ServiceFields } from "./normal.ts";

export type ShownFields = Pick<
  ServiceFields,
  "transport" | "command" | "args" | "env" | "cwd" | "url" | "headers" | "timeoutMs"
> & {
  tools: { allow: string[]; deny: string[] };
};

export function showFields({
  transport,
  command,
  args,
  env,
  cwd,
  url,
  headers,
  timeoutMs,
  policy,
}: ServiceFields): ShownFields {
  return {
    transport,
    command,
    args: maskArgs(args),
    env: maskValues(env),
    cwd,
    url: url === null ? null : maskUrl(url),
    headers: maskValues(headers),
    timeoutMs,
    tools: { allow: policy.allow, deny: policy.deny },
  };
}

export interface FieldChange {
  field: string;
  /** What the hub has. */
  before: string | null;
  /** What the file says. Masks of different values may look the same. */
  after: string | null;
}

/** What differs between a service and an entry, field by field. */
export function changesBetween(hub: ServiceFields, file: ServiceFields): FieldChange[] {
  const [before, after] = [flat(hub, (value) => value), flat(file, (value) => value)];
  const [shownBefore, shownAfter] = [flat(hub, showFields), flat(file, showFields)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((field) => ({ field, before: shownBefore.get(field) ?? null, after: shownAfter.get(field) ?? null }));
}

function flat(fields: ServiceFields, as: (fields: ServiceFields) => ShownFields | ServiceFields): Map<string, string> {
  const { transport, command, args, env, cwd, url, headers, timeoutMs } = as(fields);
  const { allow, deny } = fields.policy;
  const text = (value: unknown) =>
    value === null || typeof value === "string" ? (value ?? "") : JSON.stringify(value);
  const plain = { transport, command, args, cwd, url, timeoutMs, "tools allowed": allow, "tools denied": deny };
  return new Map([
    ...Object.entries(plain).map(([name, value]) => [name, text(value)] as const),
    ...Object.entries(env).map(([name, value]) => [`env ${name}`, value] as const),
    ...Object.entries(headers).map(([name, value]) => [`header ${name.toLowerCase()}`, value] as const),
  ]);
}
