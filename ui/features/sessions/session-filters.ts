/** Filters and order of the list of sessions, in the address, and how the service is asked for them. */

import { computed, type Ref } from "vue";
import { toolLabel } from "../../components/base/tools.ts";
import { dayStart } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import { type Condition, conditionOf } from "../../state/conditions.ts";
import { useQueryState, useWriteQuery } from "../../state/query-state.ts";
import { SORTS, type Sort } from "./columns.ts";
import type { SessionQuery } from "./session-list.ts";
import { sessionsText } from "./words/index.ts";

const NAMES = ["tool", "project", "model", "kind", "errors", "from", "to"] as const;
const KINDS = ["main", "subagent", "fork"] as const;
const CHOICES = ["", "all", ...KINDS] as const;

/** `spellings`: of a model's name, as the logs spell it. `projects`: names by id. `within`: the project whose list it is. */
export function useSessionFilters(
  spellings: (model: string) => readonly string[],
  projects: Readonly<Ref<ReadonlyMap<string, string>>>,
  within: () => string | undefined,
) {
  const write = useWriteQuery();
  const kindText = useQueryState("kind", "");
  /** A search calls its kinds of messages by the same parameter. */
  const kind = computed({
    get: () => CHOICES.find((one) => one === kindText.value) ?? "",
    set: (value) => {
      kindText.value = value;
    },
  });
  const chosenProject = useQueryState("project", "");
  const project = computed({
    get: () => within() ?? chosenProject.value,
    set: (value) => {
      chosenProject.value = value;
    },
  });
  const [tool, model, errors, from, to] = [
    useQueryState("tool", ""),
    useQueryState("model", ""),
    useQueryState("errors", ""),
    useQueryState("from", ""),
    useQueryState("to", ""),
  ];
  const order = useQueryState("sort", "recent");
  /** A search has orders of its own. */
  const sort = computed<Sort>({
    get: () => SORTS.find((one) => one === order.value) ?? "recent",
    set: (value) => {
      order.value = value;
    },
  });
  const onlyKind = computed(() => KINDS.find((one) => one === kind.value));
  const all = { tool, project, model, kind, errors, from, to };
  const query = computed(
    (): SessionQuery => ({
      sort: sort.value,
      ...(tool.value && { tool: tool.value }),
      ...(project.value && { project: project.value }),
      ...(model.value && { model: spellings(model.value).join(",") || model.value }),
      ...(onlyKind.value && { kind: onlyKind.value }),
      ...(kind.value === "" && { subagents: "0" as const }),
      ...(errors.value === "1" && { errors: "1" as const }),
      ...(from.value && { after: dayStart(from.value) }),
      ...(to.value && { before: dayStart(to.value, 1) }),
    }),
  );
  return {
    ...all,
    sort,
    query,
    onlyKind,
    /** Each filter that is on, as its field shows it. */
    conditions: computed((): Condition[] => {
      const days = { label: t("home.widen"), drop: () => write({ from: undefined, to: undefined }) };
      return [
        ...conditionOf(tool, toolLabel(tool.value)),
        ...(within() ? [] : conditionOf(project, projects.value.get(project.value) ?? project.value)),
        ...conditionOf(model, model.value),
        ...conditionOf(kind, sessionsText(`kind.${kind.value}`)),
        ...conditionOf(errors, sessionsText("errorsOnly")),
        ...(from.value || to.value ? [days] : []),
      ];
    }),
    /** The one day shown; empty for a longer range. */
    day: computed(() => (from.value === to.value ? from.value : "")),
    clear: () => write(Object.fromEntries(NAMES.map((name) => [name, undefined]))),
    /** Shows the days from `first` to `last`; without them all. */
    between: (first?: string, last?: string) => write({ from: first, to: last }),
    /** Shows one day, or all again. */
    only(day: string): void {
      const same = day === from.value && day === to.value;
      write({ from: same ? undefined : day, to: same ? undefined : day });
    },
  };
}
