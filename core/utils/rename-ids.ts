/** A session's id in rows of its log: some name it inside another object, too. */
import { isRecord } from "./json.ts";

/** Deeper objects hold no id of a session. */
const DEPTH = 6;

/**
 * The same row with `to` wherever a field of `names` holds `from`. Fields of `except` are left as they are: what was said, and what names
 * the original.
 */
export function renameIds(
  row: Readonly<Record<string, unknown>>,
  { from, to, names, except = [] }: { from: string; to: string; names: readonly string[]; except?: readonly string[] },
  depth = DEPTH,
): Record<string, unknown> {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return isRecord(value) && depth > 0 ? renameIds(value, { from, to, names, except }, depth - 1) : value;
  };
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (except.includes(name)) return [name, value];
      return [name, value === from && names.includes(name) ? to : inside(value)];
    }),
  );
}
