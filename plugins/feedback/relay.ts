/** One attempt to hand an entry to the relay. */

const LIMIT_MS = 5_000;

/** Null when the relay took it, else why not, in words that may be shown. Never throws, never takes longer than 5 s. */
export async function relay(url: string, body: string, closing: AbortSignal): Promise<string | null> {
  const late = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      redirect: "error",
      signal: AbortSignal.any([late, closing]),
    });
    await response.body?.cancel();
    return response.ok ? null : `The relay answered ${response.status}; it will be sent again`;
  } catch {
    // Whatever the network said: the entry is in the log and in the outbox.
    return late.aborted
      ? "The relay did not answer within 5 seconds; it will be sent again"
      : "The relay cannot be reached; it will be sent again";
  }
}
