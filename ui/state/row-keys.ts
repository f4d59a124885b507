/** j, k and the arrows go from row to row, through all lists of a screen; Enter opens the one in focus. */
import type { Ref } from "vue";
import { useKeys } from "./keys.ts";

export function useRowKeys(root: Readonly<Ref<HTMLElement | null>>): void {
  const rows = () => [...(root.value?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
  /** From a part of a row, such as its Resume, too. */
  const at = () => rows().findIndex((row) => rowOf(row)?.contains(document.activeElement));
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

/** A row that opens has the rows of its list beside its line. */
const rowOf = (row: HTMLElement) => row.closest("[data-line]") ?? row.closest("li");
