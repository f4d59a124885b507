/**
 * The logs of a scan. There may be a hundred thousand, and they are kept for as long as the service runs: each is its id
 * and some numbers, and becomes an object when it is asked for.
 */
import { sep } from "node:path";
import type { Adapter, SessionRef } from "sessarc";
import { Slices } from "#internal";

export interface FoundLog {
  id: string;
  ref: SessionRef;
  adapter: Adapter;
  /** That of the adapter's roots it was found in. */
  root: string;
  /** What the archive had of it when a run began: as it is now, otherwise, or not. */
  stored: "same" | "other" | "not";
}
const STORED = ["not", "same", "other"] as const;
const SAME = STORED.indexOf("same");
/** Logs between two reads of the clock. */
const TOGETHER = 256;

/** What the logs of a folder have in common: each lies at `start`, its key, and `end`. */
interface LogPlace {
  adapter: Adapter;
  root: string;
  tool: string;
  exclusive: boolean | undefined;
  start: string;
  /** Undefined: they are named otherwise, see `#paths`. */
  end: string | undefined;
}

const KEYS = ["adapter", "root", "tool", "exclusive", "start", "end"] as const;

/** What few logs have. */
type Rest = Omit<SessionRef, "tool" | "key" | "path" | "size" | "mtime" | "exclusive">;

export class Logs {
  /** By id. */
  readonly #rows = new Map<string, number>();
  readonly #places: LogPlace[] = [];
  readonly #placeNumbers = new Map<string, number>();
  /** That of the log that came last. */
  #last = 0;
  #placeOf = new Uint32Array(16);
  /** Numbers in `STORED`. */
  #stored = new Uint8Array(16);
  /** Size and time; NaN: it has none. */
  #numbers = new Float64Array(32);
  readonly #paths = new Map<string, string>();
  readonly #rests = new Map<string, Rest>();

  get size(): number {
    return this.#rows.size;
  }
  has(id: string): boolean {
    return this.#rows.has(id);
  }
  get(id: string): FoundLog | undefined {
    const row = this.#rows.get(id);
    return row === undefined ? undefined : this.#found(id, row);
  }
  *values(): Generator<FoundLog> {
    for (const [id, row] of this.#rows) yield this.#found(id, row);
  }

  /** Those that `pick` takes, in slices: making an object of each takes a µs. */
  async all(pick: (found: FoundLog) => boolean = () => true): Promise<FoundLog[]> {
    const all: FoundLog[] = [];
    const slices = new Slices();
    let looked = 0;
    for (const found of this.values()) {
      if (pick(found)) all.push(found);
      if (++looked % TOGETHER === 0 && slices.due) await slices.turn();
    }
    return all;
  }

  /** Those that the archive has otherwise, or not, in slices: it may be all. The others are passed over as numbers. */
  async open(): Promise<FoundLog[]> {
    const open: FoundLog[] = [];
    const slices = new Slices();
    let looked = 0;
    for (const [id, row] of this.#rows) {
      if (this.#stored[row] !== SAME) open.push(this.#found(id, row));
      if (++looked % TOGETHER === 0 && slices.due) await slices.turn();
    }
    return open;
  }

  /** Those in the file at `path`. Some 20 ns for each folder there is. */
  at(path: string): FoundLog[] {
    const ids: string[] = [];
    for (const [number, { tool, start, end }] of this.#places.entries()) {
      if (end === undefined || !path.startsWith(start) || !path.endsWith(end)) continue;
      const id = idOf(tool, path.slice(start.length, path.length - end.length));
      if (this.#placeOf[this.#rows.get(id) ?? -1] === number) ids.push(id);
    }
    for (const [id, one] of this.#paths) if (one === path) ids.push(id);
    return ids.flatMap((id) => this.get(id) ?? []);
  }

  /** Those in the file at `path`, or below the folder there. Some 20 ns for each folder there is, and for each log where one may be meant. */
  below(path: string): FoundLog[] {
    const inside = path.endsWith(sep) ? path : path + sep;
    const isMeant = this.#places.map(
      ({ start, end }) => end === undefined || start.startsWith(inside) || inside.startsWith(start),
    );
    if (!isMeant.includes(true)) return [];
    const below: FoundLog[] = [];
    for (const [id, row] of this.#rows) {
      if (!isMeant[this.#placeOf[row] as number]) continue;
      const found = this.#found(id, row);
      if (found.ref.path === path || found.ref.path.startsWith(inside)) below.push(found);
    }
    return below;
  }

  set({ ref, adapter, root, stored }: FoundLog): void {
    const { tool, key, path, size, mtime, exclusive, ...others } = ref;
    const id = idOf(tool, key);
    const row = this.#rows.get(id) ?? this.#rows.size;
    this.#rows.set(id, row);
    this.#makeRoom(row);
    const at = path.lastIndexOf(key);
    const isNamed = at > 0 && "/\\".includes(path[at - 1] as string);
    const [start, end] = isNamed ? [path.slice(0, at), path.slice(at + key.length)] : ["", undefined];
    this.#placeOf[row] = this.#numberOf({ adapter, root, tool, exclusive, start, end });
    this.#numbers[2 * row] = size ?? Number.NaN;
    this.#numbers[2 * row + 1] = mtime ?? Number.NaN;
    this.#stored[row] = STORED.indexOf(stored);
    put(this.#paths, id, isNamed ? undefined : path);
    put(this.#rests, id, withoutBlanks(others));
  }

  /** What the archive has of one that is there. */
  setStored(id: string, stored: FoundLog["stored"]): void {
    const row = this.#rows.get(id);
    if (row !== undefined) this.#stored[row] = STORED.indexOf(stored);
  }

  #found(id: string, row: number): FoundLog {
    const { adapter, root, tool, exclusive, start, end } = this.#places[this.#placeOf[row] as number] as LogPlace;
    const [size, mtime] = [this.#numbers[2 * row] as number, this.#numbers[2 * row + 1] as number];
    const key = id.slice(tool.length + 1);
    const ref: SessionRef = {
      tool,
      key,
      path: this.#paths.get(id) ?? start + key + end,
      ...(!Number.isNaN(size) && { size }),
      ...(!Number.isNaN(mtime) && { mtime }),
      ...(exclusive !== undefined && { exclusive }),
      ...this.#rests.get(id),
    };
    return { id, ref, adapter, root, stored: STORED[this.#stored[row] as number] ?? "not" };
  }

  #numberOf(place: LogPlace): number {
    const { adapter, root, tool, exclusive, start, end } = place;
    // Logs come folder by folder.
    const last = this.#places[this.#last];
    if (last && KEYS.every((key) => last[key] === place[key])) return this.#last;
    const text = JSON.stringify([adapter.name, root, tool, exclusive ?? null, start, end ?? null]);
    let number = this.#placeNumbers.get(text);
    // An adapter is recreated when a folder is added to it.
    if (number === undefined || this.#places[number]?.adapter !== adapter) {
      number = this.#places.push(place) - 1;
      this.#placeNumbers.set(text, number);
    }
    this.#last = number;
    return number;
  }

  #makeRoom(row: number): void {
    if (row < this.#placeOf.length) return;
    const [places, numbers, stored] = [this.#placeOf, this.#numbers, this.#stored];
    const room = Math.ceil(row * 1.5);
    this.#placeOf = new Uint32Array(room);
    this.#numbers = new Float64Array(2 * room);
    this.#stored = new Uint8Array(room);
    this.#placeOf.set(places);
    this.#numbers.set(numbers);
    this.#stored.set(stored);
  }
}

/** One piece: the sum of two strings is kept as three. */
const idOf = (tool: string, key: string) => [tool, key].join(":");

function put<T>(map: Map<string, T>, id: string, value: T | undefined): void {
  if (value !== undefined) map.set(id, value);
  else map.delete(id);
}

/** Undefined: nothing is left. */
function withoutBlanks({ companions, ...others }: Rest): Rest | undefined {
  const rest: Rest = companions && companions.length > 0 ? { ...others, companions } : others;
  return Object.values(rest).some((value) => value !== undefined) ? rest : undefined;
}
