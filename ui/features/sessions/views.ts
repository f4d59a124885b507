/** Named views of a list, kept in this browser: the service has no store for them. */
import { ref, watch } from "vue";
import { readStored, writeStored } from "../../state/settings.ts";

interface View {
  name: string;
  /** Query of the address. */
  query: Record<string, string>;
}

const MOST = 50;
const isView = (one: unknown): one is View =>
  typeof one === "object" && one !== null && "name" in one && "query" in one && typeof one.name === "string";

export function useViews(list: string) {
  const key = `sessarc:views:${list}`;
  const stored = readStored<unknown>(key, []);
  const views = ref<View[]>(Array.isArray(stored) ? stored.filter(isView) : []);
  watch(views, (now) => writeStored(key, now), { deep: true });
  return {
    views,
    /** Another view of this name goes. */
    save(view: View): void {
      views.value = [...views.value.filter((one) => one.name !== view.name), view].slice(-MOST);
    },
    remove(name: string): void {
      views.value = views.value.filter((one) => one.name !== name);
    },
  };
}
