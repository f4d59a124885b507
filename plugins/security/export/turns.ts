/** Documents on their way. One is in memory until its reader has all of it, so there are few at once and the next one waits for its turn. */

export const AT_ONCE = 4;
const PIECE = 64 * 1024;
/** A reader that takes nothing for so long is given up. */
const STALLED_MS = 60_000;

/** The document piece by piece, as fast as it is read; `end` is called once nothing of it is needed any more. */
export function inPieces(document: Buffer, end: () => void, stalledMs = STALLED_MS): ReadableStream<Uint8Array> {
  let rest: Buffer | undefined = document;
  let timer: NodeJS.Timeout | undefined;
  const finish = () => {
    clearTimeout(timer);
    rest = undefined;
    end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setTimeout(() => {
          controller.error(new Error("the client did not read the document"));
          finish();
        }, stalledMs).unref();
      },
      pull(controller) {
        timer?.refresh();
        if (rest === undefined) return;
        // A piece of its own: what waits in a socket keeps no more than that.
        controller.enqueue(new Uint8Array(rest.subarray(0, PIECE)));
        rest = rest.subarray(PIECE);
        if (rest.length > 0) return;
        controller.close();
        finish();
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}
