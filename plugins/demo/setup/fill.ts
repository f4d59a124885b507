/** What a person would have done in the sample archive: taken a skill in, rated it, given it to another assistant. */
import { TIDES } from "./skills.ts";

/** Sends a request to the service and answers its body. Throws its error. */
export type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

interface Scan {
  entries: { path: string; class: string }[];
}

export async function fillSkills(send: Send): Promise<void> {
  const { entries } = (await send("GET", "/skills/scan")) as Scan;
  const found = entries.find(({ path }) => path.replaceAll("\\", "/").endsWith(TIDES));
  if (!found) return;
  const { id } = (await send("POST", "/skills/import", { path: found.path })) as { id: string };
  await send("PATCH", `/skills/${id}`, { tags: ["tidepool"], rating: 4 });
  await send("POST", `/skills/${id}/link`, { tool: "codex" });
}
