/** The colours of a text, line by line, once the page is idle. */
import { type Ref, watch } from "vue";
import { whenIdle } from "../../state/idle.ts";
import { useLatest } from "../../state/latest.ts";
import type { Token } from "./highlight.ts";

/** Undefined until they are there, and where the language of `path` is not known. */
export function useColours(text: () => string, path: () => string): Readonly<Ref<Token[][] | undefined>> {
  const { fresh, run } = useLatest((signal, code: string, name: string) =>
    whenIdle(async () => (await import("./highlight.ts")).highlightLines(code, name, signal), signal),
  );
  watch([text, path] as const, (now) => run(...now), { immediate: true });
  return fresh;
}
