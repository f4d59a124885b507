/** Streams of events as they leave. */

const HELLO = new TextEncoder().encode(": ok\n\n");

/** Node holds the head of an answer back until a byte of its body is there: this one comes at once. */
export function primed(response: Response): Response {
  if (!response.body || !response.headers.get("content-type")?.includes("text/event-stream")) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(HELLO),
  });
  void response.body.pipeTo(writable).catch(() => {
    // Whoever reads is gone, or the other end: both are told by the stream itself.
  });
  return new Response(readable, { status: response.status, headers: response.headers });
}

/** The same answer; `ended` is told once its body is over, whoever ends it. */
export function watched(response: Response, ended: () => void): Response {
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
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (value) controller.enqueue(value);
        if (!done) return;
        tell();
        controller.close();
      } catch (error) {
        tell();
        controller.error(error);
      }
    },
    cancel(reason) {
      tell();
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
