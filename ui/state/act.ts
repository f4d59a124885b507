/** An act of the user that asks the service: busy while it runs; a failure shows a notice. */
import { ref } from "vue";
import { failed, reasonOf } from "./toast.ts";

export function useAct() {
  const busy = ref(false);
  /** How many failed: the `key` of a switch, which so shows again what is. */
  const failures = ref(0);
  /** The answer; undefined when it failed. */
  async function act<T>(run: () => Promise<T>): Promise<T | undefined> {
    busy.value = true;
    try {
      return await run();
    } catch (error) {
      failed(error);
      failures.value++;
      return undefined;
    } finally {
      busy.value = false;
    }
  }
  return { busy, failures, act };
}

/** Saving a form: busy while it runs, and its error is shown beside it until the next try. */
export function useSave() {
  const busy = ref(false);
  const wrong = ref("");
  async function save(run: () => Promise<unknown>): Promise<void> {
    busy.value = true;
    wrong.value = "";
    try {
      await run();
    } catch (error) {
      wrong.value = reasonOf(error);
    } finally {
      busy.value = false;
    }
  }
  return { busy, wrong, save };
}
