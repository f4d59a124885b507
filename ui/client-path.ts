/** `/sessions/:id` with its params and query filled in, below `/api`. Undefined, null and empty values of a query are left out. */
export function pathOf(path: string, params: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return `/api${filled}${text === "" ? "" : `?${text}`}`;
}
