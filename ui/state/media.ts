import { onScopeDispose, type Ref, ref } from "vue";

/** Whether a media query holds now. */
export function useMedia(query: string): Readonly<Ref<boolean>> {
  const media = matchMedia(query);
  const holds = ref(media.matches);
  const update = () => {
    holds.value = media.matches;
  };
  media.addEventListener("change", update);
  onScopeDispose(() => media.removeEventListener("change", update));
  return holds;
}
