/** Questions to the user, and changes over the API. */
import { createInterface } from "node:readline/promises";
import { ApiError, type CommandContext } from "sessarc";

/** Shows `text` and waits for a yes. */
export async function isConfirmed(ctx: CommandContext, text: string): Promise<boolean> {
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await ask.question(`${text}\n[y/N] `, { signal: ctx.signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    ask.close();
  }
}

export async function post<T>(ctx: CommandContext, path: string, body: object): Promise<T> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: ctx.signal,
  };
  const response = await ctx.fetch(path, init);
  const answer: unknown = await response.json();
  if (!response.ok) throw new ApiError(answer as ConstructorParameters<typeof ApiError>[0]);
  return answer as T;
}
