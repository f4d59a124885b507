/** Server-sent events of a body. */

interface ServerEvent {
  id: string | undefined;
  data: string;
}

/** Events as they come; comments and empty ones are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = toEvent(block);
      if (event.data !== "") yield event;
    }
  }
}

function toEvent(block: string): ServerEvent {
  const data: string[] = [];
  let id: string | undefined;
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    else if (line.startsWith("id:")) id = line.slice(3).trim();
  }
  return { id, data: data.join("\n") };
}
