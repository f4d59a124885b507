/** The JSON of each `data:` frame of an event stream, to its end. */
export async function* readFrames<T>(response: Response): AsyncGenerator<T> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const step = await reader?.read();
      if (!step || step.done) return;
      text += step.value;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const data = part
          .split("\n")
          .filter((line) => line.startsWith("data:"))
          .map((line) => line.slice(5).trimStart())
          .join("\n");
        if (data !== "") yield JSON.parse(data) as T;
      }
    }
  } finally {
    await reader?.cancel();
  }
}
