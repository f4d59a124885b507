/** What brings a session back: its log where it was (`back`), or a copy of it for another folder (`folder`). */
import type { Answer } from "../../client.ts";

export const STATES = ["dying", "gone", "hidden", "folder-gone", "reclaimed", "listed"] as const;
export type State = (typeof STATES)[number];
export type Folder = Answer<"GET /rescue/folders">["folders"][number];
export type Act = "back" | "folder";
export type Listed = Answer<"GET /rescue/sessions">["sessions"][number];

/** Only what the archive has the log of can be put back, and only what is not where it was. */
export const ACTS: Readonly<Record<Act, (one: Listed) => boolean>> = {
  back: (one) => has(one, "gone") || has(one, "reclaimed"),
  folder: (one) => has(one, "folder-gone"),
};

const has = ({ states, stored }: Listed, wanted: string) => stored && states.some(({ state }) => state === wanted);

/** The act of a row in the list of a state; a session of several states may have both. */
export function actOf(one: Listed, state: string): Act | undefined {
  const order: readonly Act[] = state === "folder-gone" ? ["folder", "back"] : ["back", "folder"];
  return order.find((act) => ACTS[act](one));
}
