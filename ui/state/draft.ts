/** What is being typed: it outlives a reload and the service, and ends with the tab. Nothing secret belongs here. */
import { type Ref, ref, watch } from "vue";

export function useDraft<T>(name: string, fallback: T): Ref<T> & { clear(): void } {
  const key = `sessarc:draft:${name}`;
  const draft = ref(read(key, fallback)) as Ref<T>;
  watch(draft, (value) => keep(key, value), { deep: true, flush: "sync" });
  return Object.assign(draft, {
    clear() {
      draft.value = structuredClone(fallback);
      sessionStorage.removeItem(key);
    },
  });
}

function read<T>(key: string, fallback: T): T {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? structuredClone(fallback) : (JSON.parse(text) as T);
  } catch {
    return structuredClone(fallback);
  }
}

/** Storage may be full or switched off: then the draft lasts as long as the page. */
function keep(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    return;
  }
}
