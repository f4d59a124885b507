/** Requests to services, and to those who give their tokens. */

export const MAX_ANSWER = 32 * 2 ** 20;

/** Never on to another place with our headers, and no answer without an end: a stream's limit holds for each event. */
export async function limitedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  // "manual" even where a caller asks for more: a redirect is answered as it is, and the transports refuse it.
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream");
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (isStream && endsEvent(chunk)) size = 0;
      if (size > MAX_ANSWER) controller.error(new Error(`its answer is larger than ${MAX_ANSWER / 2 ** 20} MiB`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

const endsEvent = (chunk: Uint8Array) => chunk.at(-1) === 10 && (chunk.at(-2) === 10 || chunk.at(-3) === 10);
