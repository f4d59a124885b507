/** Returns a unified diff of two texts that differ in one place, with two lines of context. */
export function toDiff(before: string, after: string): string {
  if (before === after) return "";
  const [old, fresh] = [toLines(before), toLines(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const around = 2;
  const from = Math.max(0, head - around);
  const lines = [
    `@@ -${from + 1} +${from + 1} @@`,
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - tail + around).map((line) => ` ${line}`),
  ];
  return lines.join("\n");
}

const toLines = (text: string) => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));
