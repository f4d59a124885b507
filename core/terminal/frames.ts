/** Streams of the HTTP API, as commands read them. */
import { type ErrorBody, SessarcError } from "../errors/error.ts";
import { ApiError } from "./errors.ts";

/** The response itself when it is 2xx; throws ApiError otherwise. */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new ApiError((await response.json()) as ErrorBody);
}

/** The JSON of each `data:` frame of a server-sent stream. Throws when `signal` aborts; the stream is cancelled then. */
export async function* readFrames<T>(response: Response, signal?: AbortSignal): AsyncGenerator<T> {
  if (!response.body) throw new SessarcError("INVALID_INPUT", { reason: "The service sent no stream" });
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream(), signal ? { signal } : {})) {
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
