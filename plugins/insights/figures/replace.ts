/** From figures of one moment to those of the next: sessions that came, changed and went, and whoever counts with another one since. */
import { Slices } from "#internal";
import type { Blocks } from "./blocks.ts";
import type { CubeSession } from "./cube-session.ts";
import { Edit } from "./edit.ts";
import type { Rollup } from "./rollup.ts";
import { rooted } from "./rows.ts";
import { at } from "./tally.ts";

/**
 * `changed`: ids of all of them; `read`: those that are there now. Answers the next blocks; the sums and `places`, where each session stands
 * in the blocks, are changed in place. In slices, some 10 µs a session.
 */
export async function replace(
  old: { blocks: Blocks; rollup: Rollup },
  places: Map<string, number>,
  changed: Iterable<string>,
  read: readonly CubeSession[],
): Promise<Blocks> {
  const slices = new Slices();
  const edit = new Edit(old.blocks);
  const gone = new Map<string, CubeSession>();
  /** Somebody's parent may have come, gone or changed. */
  let related = false;
  for (const session of read) {
    if (slices.due) await slices.turn();
    const place = places.get(session.id);
    const before = edit.get(place);
    if (place !== undefined && before) {
      related ||= before.parent !== session.parent;
      gone.set(session.id, before);
      edit.set(place, session.under(before.root));
    } else {
      related = true;
      places.set(session.id, edit.add(session));
    }
  }
  const there = new Set(read.map(({ id }) => id));
  for (const id of changed) {
    if (slices.due) await slices.turn();
    const place = places.get(id);
    const before = edit.get(place);
    if (there.has(id) || place === undefined || !before) continue;
    related = true;
    gone.set(id, before);
    places.delete(id);
    const moved = edit.remove(place);
    if (moved) places.set(moved.id, place);
  }
  const get = (id: string) => edit.get(places.get(id));
  if (related) {
    edit.each((session, place) => {
      const now = rooted(session, get);
      if (now === session) return;
      if (!there.has(session.id)) gone.set(session.id, session);
      edit.set(place, now);
      there.add(session.id);
    });
  }
  // A family is counted in one go, however large; those that moved from one to another all together.
  const families = new Map<string, string[]>();
  for (const id of new Set([...gone.keys(), ...there])) {
    const [from, to] = [gone.get(id)?.root, get(id)?.root];
    at(families, from && to && from !== to ? "" : (to ?? from ?? ""), () => []).push(id);
  }
  for (const ids of families.values()) {
    old.rollup.change(
      ids.flatMap((id) => gone.get(id) ?? []),
      ids.flatMap((id) => get(id) ?? []),
    );
    if (slices.due) await slices.turn();
  }
  return edit.done(related);
}
