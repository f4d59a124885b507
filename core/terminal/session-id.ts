/** Ids of sessions as lists print them and commands take them: what a user selects with the mouse works after `sessarc show`. */
import { quoted } from "../utils/shell.ts";

/** Version 4 begins with random digits, version 7 with the time: as many as tell it from its neighbours. */
const UUID = /^([\da-f]{8})(-[\da-f]{4})-([\da-f])[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/i;

const keyOf = (id: string) => id.slice(id.indexOf(":") + 1);

/** The short form of each id: of a UUID its beginning, as long as these differ; any other without its tool, whole. */
export function toShortIds(ids: readonly string[]): Map<string, string> {
  const used = new Map<string, number>();
  const first = new Map(ids.map((id) => [id, toBeginning(keyOf(id))]));
  for (const short of first.values()) used.set(short, (used.get(short) ?? 0) + 1);
  const keys = new Map<string, number>();
  for (const id of first.keys()) keys.set(keyOf(id), (keys.get(keyOf(id)) ?? 0) + 1);
  return new Map(
    [...first].map(([id, short]) => {
      const unlike = used.get(short) === 1 ? short : keyOf(id);
      return [id, toWord(id, keys.get(keyOf(id)) === 1 ? unlike : id)];
    }),
  );
}

function toBeginning(key: string): string {
  const [, eight, four, version] = UUID.exec(key) ?? [];
  if (eight === undefined) return key;
  return version === "7" ? `${eight}${four}` : eight;
}

/** A dash would begin a flag, and a shell reads some characters. */
function toWord(id: string, short: string): string {
  const word = short.startsWith("-") ? id : short;
  return /^[\w.:@%+=,/-]+$/.test(word) ? word : quoted(word);
}
