/** What routes answer, as the build found it in their types (`dist/responses.json`). */
import { readFile } from "node:fs/promises";

export interface Responses {
  /** By `GET /sessions/:id`. */
  routes: Record<
    string,
    {
      /** JSON Schema of the answer; absent for routes that answer no JSON. */
      json?: Record<string, unknown> | undefined;
      /** It may also be something else: a stream, a page, a file. */
      other: boolean;
    }
  >;
  /** Named types the schemas refer to. */
  schemas: Record<string, Record<string, unknown>>;
}

/** Empty in a source checkout, where nothing was built. */
export async function loadResponses(): Promise<Responses> {
  if (import.meta.url.endsWith(".ts")) return { routes: {}, schemas: {} };
  const file = new URL("./dist/responses.json", import.meta.resolve("sessarc/package.json"));
  return JSON.parse(await readFile(file, "utf8")) as Responses;
}
