/** Answers made as they are read: neither memory nor other requests feel how long they are. */

export function textStream(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}

/** A JSON answer in pieces. */
export const streamJson = (texts: AsyncGenerator<string>): Response =>
  new Response(textStream(texts), { headers: { "content-type": "application/json; charset=utf-8" } });
