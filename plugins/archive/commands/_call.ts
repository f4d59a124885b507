/** Calls of the HTTP API from a command. */
import { type CommandContext, SessarcError } from "sessarc";

interface ErrorAnswer {
  message?: string;
  fix?: string;
}

/** What a route refused, with the service's own words. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly status: number;

  constructor(status: number, { message, fix }: ErrorAnswer) {
    super([message ?? `The service answered ${status}`, ...(fix ? [`      ${fix}`] : [])].join("\n"));
    this.status = status;
  }
}

/** `path` is relative to /api; undefined values of `query` are left out. Throws CallError for every answer that is not 2xx. */
export async function call<T>(
  ctx: CommandContext,
  path: string,
  query: Record<string, string | undefined> = {},
): Promise<T> {
  const response = await ctx.fetch(withQuery(path, query), { signal: ctx.signal });
  return (await accepted(response)).json() as Promise<T>;
}

export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length > 0 ? `${path}?${new URLSearchParams(set)}` : path;
}

export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  const body = readError(text);
  throw new CallError(response.status, body);
}

function readError(text: string): ErrorAnswer {
  try {
    return JSON.parse(text) as ErrorAnswer;
  } catch {
    return {};
  }
}

/** The JSON of each `data:` frame of a server-sent stream. */
export async function* readFrames<T>(response: Response): AsyncGenerator<T> {
  if (!response.body) throw new SessarcError("INVALID_INPUT", { reason: "The service sent no stream" });
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).replace(/^ /, ""));
      if (data.length > 0) yield JSON.parse(data.join("\n")) as T;
    }
  }
}
