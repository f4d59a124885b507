/** A field of a server as it would be typed: arguments as words, lists with commas. */
export function showField(field: string, value: string | null): string {
  if (value === null || value === "") return "—";
  const list = field === "args" || field.startsWith("tools ") ? readList(value) : undefined;
  if (list === undefined) return value;
  if (list.length === 0) return "—";
  return field === "args" ? list.map(quote).join(" ") : list.join(", ");
}

const quote = (word: string): string => (word === "" || /[\s"'\\]/.test(word) ? JSON.stringify(word) : word);

/** Undefined: the value is not a list of texts. */
function readList(value: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : undefined;
  } catch {
    // A value whose secrets are masked may not be JSON any more: it is shown as it is.
    return undefined;
  }
}
