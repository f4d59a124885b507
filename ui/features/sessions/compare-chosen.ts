/** Two chosen sessions are compared by one key, by the palette, or by the button below the list. */
import { useRouter } from "vue-router";
import { useCommands } from "../../state/commands.ts";
import { useKeys } from "../../state/keys.ts";
import { toast } from "../../state/toast.ts";
import { sessionsText } from "./words/index.ts";

/** "Versus": the letters of a session that is read beside the list are others. */
export const COMPARE_KEY = "v";

/** `chosen`: identifiers, in the order they were chosen. */
export function useCompareChosen(chosen: () => readonly string[]): () => unknown {
  const router = useRouter();
  function compare(): unknown {
    const [a, b, ...more] = chosen();
    if (a === undefined || b === undefined || more.length > 0) return toast(sessionsText("compareHint"));
    return router.push({ path: "/compare", query: { a, b } });
  }
  const isCovered = () => document.querySelector("[role=dialog][data-state=open], [role=menu]") !== null;
  useKeys([{ keys: COMPARE_KEY, label: "keys.compare", run: () => !isCovered() && compare() }]);
  useCommands(() =>
    chosen().length === 2
      ? [
          {
            ...{ id: "compare-chosen", label: sessionsText("compareChosen"), icon: "panel-right" },
            ...{ keys: COMPARE_KEY, run: compare },
          },
        ]
      : [],
  );
  return compare;
}
