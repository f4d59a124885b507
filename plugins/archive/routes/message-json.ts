/** Messages as JSON text, written from a chunk's columns: nothing is put together that is only taken apart again. */
import type { Chunk } from "#internal";

/** Texts up to here are cut; longer ones say how long they are. */
interface MessageJsonOptions {
  cut: number;
}

/** Fields are in the order of `toMessage`. */
export class MessageJson {
  readonly #cut: number;
  /** Models, tools and kinds as they are written. */
  readonly #words = new Map<string, string>();

  constructor({ cut }: MessageJsonOptions) {
    this.#cut = cut;
  }

  write(chunk: Chunk, index: number): string {
    const { text, length } = this.#text(chunk, index);
    const id = chunk.id(index);
    const at = chunk.at(index);
    let json = `{"seq":${chunk.firstSeq + index},"id":${id === undefined ? "null" : JSON.stringify(id)},"at":${
      at === undefined ? "null" : `"${at}"`
    },"kind":${this.#word(chunk.kind(index))},"text":${JSON.stringify(text)}`;
    const model = chunk.model(index);
    if (model !== undefined) json += `,"model":${this.#word(model)}`;
    const tool = chunk.toolName(index);
    if (tool !== undefined) json += `,"tool_name":${this.#word(tool)}`;
    const use = chunk.toolUseId(index);
    if (use !== undefined) json += `,"tool_use_id":${JSON.stringify(use)}`;
    const input = chunk.toolInput(index);
    if (input !== undefined) json += `,"tool_input":${JSON.stringify(input)}`;
    const error = chunk.error(index);
    if (error !== undefined) json += `,"is_error":${error}`;
    if (length !== undefined || chunk.isCut(index)) json += ',"truncated":true';
    if (length !== undefined) json += `,"textLength":${length}`;
    return `${json}}`;
  }

  #text(chunk: Chunk, index: number): { text: string; length?: number } {
    const text = chunk.textOf(index);
    return text.length > this.#cut ? { text: text.slice(0, this.#cut), length: text.length } : { text };
  }

  #word(word: string): string {
    let known = this.#words.get(word);
    if (known === undefined) {
      known = JSON.stringify(word);
      this.#words.set(word, known);
    }
    return known;
  }
}
