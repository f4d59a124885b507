/** Budgets: how they are named, and news of those that crossed a level. */

import { watch } from "vue";
import { type Answer, api } from "../../client.ts";
import { toolLabel } from "../../components/base/tools.ts";
import { money, projectName, short } from "../../format.ts";
import { modelWords } from "../../model-names.ts";
import { useService } from "../../state/service.ts";
import { readStored, writeStored } from "../../state/settings.ts";
import { toast } from "../../state/toast.ts";
import { usageText } from "./words/index.ts";

export type Budget = Answer<"GET /budgets">[number];

export const amountText = (value: number, unit: Budget["unit"]): string =>
  unit === "money" ? money(value) : short(value);

export function nameOf({ period, scope, target, label }: Budget): string {
  const what =
    scope === "tool"
      ? toolLabel(target ?? "")
      : scope === "model"
        ? modelWords(target ?? "")
        : scope === "project"
          ? projectName(label ?? target ?? "")
          : usageText("budgets.all");
  return `${what}, ${usageText(`budgets.name.${period}`)}`;
}

interface Crossing {
  id: string;
  level: number;
  at: string;
}

const KEY = "sessarc:budgets-told";
let started = false;

/** Reports crossings of budgets while the page is open: here, and by the system where the user allowed it. Calling it again does nothing. */
export function startBudgetNews(): void {
  if (started) return;
  started = true;
  const service = useService();
  watch(service.status, (status) => status && void tell(status.budgets ?? []), { immediate: true });
}

async function tell(crossings: readonly Crossing[]): Promise<void> {
  const keyOf = ({ id, level, at }: Crossing) => `${id} ${level} ${at}`;
  const told = readStored<string[] | undefined>(KEY, undefined);
  const news = crossings.filter((one) => !told?.includes(keyOf(one)));
  if (news.length === 0 && told) return;
  writeStored(KEY, crossings.map(keyOf));
  // What was so before the first visit is no news.
  if (!told) return;
  const budgets = await api("GET /budgets").catch(() => []);
  for (const budget of budgets) {
    const level = Math.max(0, ...news.filter(({ id }) => id === budget.id).map((one) => one.level));
    if (level === 0) continue;
    const text = usageText("budgets.crossed", {
      level,
      name: nameOf(budget),
      used: amountText(budget.used, budget.unit),
      amount: amountText(budget.amount, budget.unit),
    });
    toast(text, { bad: level === 100 });
    if ("Notification" in window && Notification.permission === "granted")
      new Notification(usageText("budgets"), { body: text, tag: `${KEY}:${budget.id}`, icon: "/icon-192.png" });
  }
}
