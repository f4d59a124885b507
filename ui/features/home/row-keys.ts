/** j, k and the arrows go from session to session, through all lists of Now; Enter opens the one in focus. */
import type { Ref } from "vue";
import { useKeys } from "../../state/keys.ts";

export function useRowKeys(root: Readonly<Ref<HTMLElement | null>>): void {
  const rows = () => [...(root.value?.querySelectorAll<HTMLElement>("a[data-row]") ?? [])];
  /** From a part of a row, such as its Resume, too. */
  const at = () => rows().findIndex((row) => row.closest("li")?.contains(document.activeElement));
  const isCovered = () => document.querySelector("[role=dialog][data-state=open], [role=menu]") !== null;
  function move(step: number): unknown {
    const from = at();
    const row = rows()[from < 0 ? 0 : from + step];
    if (!row || isCovered()) return false;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }
  useKeys([
    { keys: "j", label: "keys.next", run: () => move(1) },
    { keys: "ArrowDown", run: () => move(1) },
    { keys: "k", label: "keys.previous", run: () => move(-1) },
    { keys: "ArrowUp", run: () => (at() < 0 ? false : move(-1)) },
  ]);
}
