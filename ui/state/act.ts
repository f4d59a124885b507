/** An act of the user that asks the service: busy while it runs, and what went wrong is told. */
import { ref } from "vue";
import { failed } from "./toast.ts";

export function useAct() {
  const busy = ref(false);
  /** The answer; undefined when it failed. */
  async function act<T>(run: () => Promise<T>): Promise<T | undefined> {
    busy.value = true;
    try {
      return await run();
    } catch (error) {
      failed(error);
      return undefined;
    } finally {
      busy.value = false;
    }
  }
  return { busy, act };
}
