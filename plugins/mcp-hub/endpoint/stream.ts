/** Streams of events as they leave. */

const HELLO = new TextEncoder().encode(": ok\n\n");
/** Bytes that wait for a client that does not read. Its stream ends then: it can take it up again where it stopped. */
const MOST_UNREAD = 64 * 2 ** 20;

/**
 * The same answer, its body read as it comes, so that what waits for a slow client is counted. `hello` puts a comment in front: Node holds
 * the head of an answer back until a byte of its body is there. `ended` is called once. `fill` answers what is sent in the place of a chunk.
 */
export function relayed(
  response: Response,
  { hello = false, ended = () => {}, fill = (chunk: Uint8Array) => [chunk] } = {},
): Response {
  if (!response.body) {
    ended();
    return response;
  }
  const reader = response.body.getReader();
  let told = false;
  const tell = () => {
    if (!told) ended();
    told = true;
  };

  async function pump(out: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        for (const part of value ? fill(value) : []) out.enqueue(part);
        if ((out.desiredSize ?? 0) <= 0) throw new Error("The client does not read its stream");
      }
      out.close();
    } catch (error) {
      out.error(error);
      // Ended already, or the service is gone: nothing is left to cancel.
      await reader.cancel(error).catch(() => {});
    } finally {
      tell();
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(out) {
        if (hello) out.enqueue(HELLO);
        void pump(out);
      },
      cancel(reason) {
        tell();
        return reader.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNREAD }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

export const isEvents = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") === true;
