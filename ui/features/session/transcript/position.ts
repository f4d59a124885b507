/** Where the reader was in each session, for the last 200 of them. */
import { readStored, writeStored } from "../../../state/settings.ts";

const KEY = "sessarc:positions";
const KEPT = 200;

export const recall = (id: string): number | undefined =>
  readStored<[string, number][]>(KEY, []).find(([one]) => one === id)?.[1];

export function remember(id: string, seq: number): void {
  const rest = readStored<[string, number][]>(KEY, []).filter(([one]) => one !== id);
  writeStored(KEY, [[id, seq], ...rest].slice(0, KEPT));
}
