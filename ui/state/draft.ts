/** What is being typed: it outlives a reload and the service, and ends with the tab. Nothing secret belongs here. */
import { type Ref, ref, watch } from "vue";
import { readStored, writeStored } from "./settings.ts";

export function useDraft<T>(name: string, fallback: T): Ref<T> & { clear(): void } {
  const key = `sessarc:draft:${name}`;
  const draft = ref(readStored(key, structuredClone(fallback), "sessionStorage")) as Ref<T>;
  watch(draft, (value) => writeStored(key, value, "sessionStorage"), { deep: true, flush: "sync" });
  return Object.assign(draft, {
    clear() {
      draft.value = structuredClone(fallback);
      writeStored(key, undefined, "sessionStorage");
    },
  });
}
