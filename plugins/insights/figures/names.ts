/** Names stand once for all sessions: of models, tools, kinds and projects there are few. */
const names: string[] = [];
const numbers = new Map<string, number>();

/** The number that stands for a name as long as the process lives. */
export function numberOf(name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = names.push(name) - 1;
    numbers.set(name, number);
  }
  return number;
}
export const nameOf = (number: number | undefined): string => names[number ?? -1] ?? "unknown";

/** Names by their numbers. */
export const allNames = (): readonly string[] => names;

/** The one string of those that are equal. */
export const shared = (text: string): string => nameOf(numberOf(text));
