/** Collects the words of a session for the server's search. */
import type { IndexerModule, Json } from "sessarc";
import { toWords } from "./words.ts";

/** Characters of different words. A session with more is read by every search. */
const MOST = 16_000_000;

export default {
  create() {
    const words = new Set<string>();
    let size = 0;
    const add = (text: string) => {
      if (size > MOST) return;
      for (const word of toWords(text)) {
        if (words.has(word)) continue;
        words.add(word);
        size += word.length + 1;
      }
    };
    const addInput = (value: Json) => {
      if (typeof value === "string") add(value);
      else if (value === null || typeof value !== "object") add(JSON.stringify(value));
      else if (Array.isArray(value)) for (const item of value) addInput(item);
      else
        for (const [key, item] of Object.entries(value)) {
          add(key);
          addInput(item);
        }
    };
    return {
      event({ text, tool_input }) {
        add(text);
        if (tool_input !== undefined) addInput(tool_input);
      },
      finish() {
        const isWhole = size <= MOST;
        return { search_words: [{ words: isWhole ? [...words].join(" ") : "", whole: isWhole ? 1 : 0 }] };
      },
    };
  },
} satisfies IndexerModule;
