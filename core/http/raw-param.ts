/** The bytes of a parameter: `%E9` alone is no UTF-8, and a parsed query has lost it. */
export function rawParam(search: string, name: string): Buffer | undefined {
  const pair = search
    .replace(/^\?/, "")
    .split("&")
    .find((part) => part.split("=", 1)[0] === name);
  if (pair === undefined) return undefined;
  const bytes = Buffer.from(pair.slice(name.length + 1).replaceAll("+", " "), "utf8").toString("latin1");
  const decoded = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, "latin1");
}
