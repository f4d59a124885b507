import { type ComputedRef, computed, effectScope } from "vue";
import { api } from "../../client.ts";
import { usePoll } from "../../state/poll.ts";
import type { Session } from "../../wire.ts";

const POLL_MS = 20_000;
/** Of the newest so many: what runs is among them. */
const READ = 20;

function create(): ComputedRef<Session[]> {
  const poll = usePoll((signal) => api("GET /sessions", { query: { limit: READ, subagents: "0" }, signal }), POLL_MS);
  return computed(() => (poll.data.value?.sessions ?? []).filter(({ live }) => live));
}
let shared: ComputedRef<Session[]> | undefined;
/** Sessions that are being written, the newest first. */
export function useLiveCount(): ComputedRef<Session[]> {
  shared ??= effectScope(true).run(create);
  if (!shared) throw new Error("The scope of the live count is closed");
  return shared;
}
