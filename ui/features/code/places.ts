/** Files and lines that sessions wrote, as `GET /git/find` answers them: where each leads. */
import { type Answer, api } from "../../client.ts";
import { offers } from "../../state/offers.ts";

export type Place = Answer<"GET /git/find">["places"][number];

/** To the line in its file, or, where no folder holds the file, to the call that wrote it. */
export function linkOf({ project, path, inside, line, text, last }: Place): string {
  if (!inside) return `/sessions/${encodeURIComponent(last.sessionId)}?m=${last.seq}`;
  const query = new URLSearchParams({ tab: "code", file: path });
  if (line !== null) query.set("line", String(line));
  if (text !== null) query.set("text", text);
  return `/projects/${project.id}?${query}`;
}

/** Whether a line was asked for, not the file alone. */
export const isLine = ({ line, text }: Place): boolean => line !== null || text !== null;

export const nameOf = ({ path, line, text }: Place): string => text ?? (line === null ? path : `${path}:${line}`);

/** The session that wrote the line, where it is known: of a number only the file's last writer is. */
export const writerOf = ({ line, last }: Place): string => (line === null ? (last.title ?? last.sessionId) : "");

/** Longer texts are not one line of code. */
const LONGEST = 1_000;

/** None where the plugin that knows them is not loaded. */
export async function findPlaces(q: string, signal: AbortSignal, limit: number): Promise<Place[]> {
  if (q.length > LONGEST || !offers("GET /git/find")) return [];
  const answer = await api("GET /git/find", { query: { q, limit: String(limit) }, signal }).catch(() => undefined);
  return answer?.places ?? [];
}
