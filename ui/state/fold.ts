/** Whether a part of a screen is unfolded. What the user chose is remembered in this browser; until then wide screens have room for it. */
import { ref, watch } from "vue";
import { readStored, writeStored } from "./settings.ts";

const WIDE = "(min-width: 640px)";

export function useFold(name: string, unfolded = matchMedia(WIDE).matches) {
  const key = `sessarc:fold:${name}`;
  const open = ref(readStored(key, unfolded));
  watch(open, (now) => writeStored(key, now));
  return open;
}
