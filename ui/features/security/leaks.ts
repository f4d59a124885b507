/** Leaked secrets: what is asked of the service, and marking several of them at once. */
import { useQueryCache } from "@pinia/colada";
import { type Answer, api } from "../../client.ts";
import { t } from "../../i18n/index.ts";
import { useAct } from "../../state/act.ts";
import { toast } from "../../state/toast.ts";
import { securityText } from "./words/index.ts";

export type Leak = Answer<"GET /security/leaks">["leaks"][number];
export type LeakPlace = Leak["place"];
export type LeakState = Leak["state"];
export type LeakGroup = Answer<"GET /security/leaks/groups">["groups"][number];
export type GroupBy = "kind" | "project";
export type Provider = Leak["provider"];

/** In the order of a list to choose from. */
export const STATES = ["open", "rotated", "ignored", "harmless"] as const satisfies readonly LeakState[];

/** What is marked: secrets by id, and all open ones of groups. */
export interface Chosen {
  ids?: string[];
  kinds?: string[];
  projects?: string[];
  possible?: boolean;
}

export function useMarking() {
  const cache = useQueryCache();
  const { busy, act } = useAct();
  /** A row is gone once its state is another: Undo reaches the list without it. */
  const refresh = () => cache.invalidateQueries({ key: ["leaks"] });
  async function mark(chosen: Chosen, state: LeakState): Promise<boolean> {
    const done = await act(() => api("POST /security/leaks/mark", { body: { ...chosen, state } }));
    if (!done) return false;
    void refresh();
    const undo = async () => {
      for (const from of STATES) {
        const ids = done.marked.filter((one) => one.from === from).map(({ id }) => id);
        if (ids.length > 0) await api("POST /security/leaks/mark", { body: { ids, state: from } });
      }
      await refresh();
    };
    toast(securityText(`leaks.marked.${state}`, { n: done.marked.length }), {
      action: { label: t("action.undo"), run: undo },
    });
    return true;
  }
  return { busy, mark };
}
