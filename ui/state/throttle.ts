/** At most one call in `every` ms: the first at once, later ones together when the time is over. For what follows scrolling. */
import { onScopeDispose } from "vue";

export function useThrottle(every: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  let over = false;
  const open = () => {
    timer = undefined;
    if (again) call();
  };
  function call(): void {
    again = timer !== undefined;
    if (again || over) return;
    timer = setTimeout(open, every);
    run();
  }
  onScopeDispose(() => {
    clearTimeout(timer);
    over = true;
  });
  return call;
}
