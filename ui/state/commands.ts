/** What the palette can do now: the shell's own commands, those of the page on show, those of plugins. */
import { onScopeDispose, shallowReactive } from "vue";

export interface Command {
  id: string;
  label: string;
  icon?: string;
  keys?: string;
  run(): unknown;
}

const sources = shallowReactive<(() => Command[])[]>([]);

/** Commands of a page, as long as it is on show. */
export function useCommands(source: () => Command[]): void {
  sources.push(source);
  onScopeDispose(() => {
    const at = sources.indexOf(source);
    if (at >= 0) sources.splice(at, 1);
  });
}

export const pageCommands = (): Command[] => sources.flatMap((source) => source());
