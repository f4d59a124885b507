/** Choices of the lists by which sessions and calls are filtered; the first is all. */
import { type ComputedRef, computed, type Ref } from "vue";
import { toolLabel } from "../../components/base/tools.ts";
import { useTools } from "../../state/projects.ts";
import { sessionsText } from "./words/index.ts";

type Options = ComputedRef<{ value: string; label: string }[]>;

/** `chosen` is among them, whatever the archive has. */
export function useToolOptions(chosen: Readonly<Ref<string>>): Options {
  const tools = useTools(chosen);
  return computed(() => [
    { value: "", label: sessionsText("anyTool") },
    ...tools.value.map((value) => ({ value, label: toolLabel(value) })),
  ]);
}

/** `names`: of projects, by id. */
export const useProjectOptions = (names: () => ReadonlyMap<string, string>): Options =>
  computed(() => [
    { value: "", label: sessionsText("anyProject") },
    ...[...names()].map(([value, label]) => ({ value, label })),
  ]);
