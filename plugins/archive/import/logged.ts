/** What a log states of its session beside messages and replies, with limits: the log's author may be hostile. */
import { type Kernel, SessarcError, type SessionLink, type SessionSummary } from "sessarc";
import type { LoggedFacts } from "../catalogue/types.ts";
import type { FoundLog } from "../places/scan.ts";

/** Links and tags stored of a session. */
const MOST = 50;
const CHARS = 2_048;

export function toLogged({
  costUSD,
  unlogged,
  links = [],
  tags = [],
  refused,
  leftOut,
}: Pick<SessionSummary, "costUSD" | "unlogged" | "links" | "tags" | "refused" | "leftOut">): LoggedFacts {
  const kept = links.filter(isPlain).slice(0, MOST);
  const named = tags.filter((tag) => tag.length <= CHARS).slice(0, MOST);
  return {
    ...(costUSD !== undefined && { costUSD }),
    ...(unlogged && { unlogged }),
    ...(kept.length > 0 && { links: kept }),
    ...(named.length > 0 && { tags: named }),
    ...(refused !== undefined && { refused }),
    ...(leftOut && { leftOut }),
  };
}

/** Short texts, and an address that a browser may open. */
function isPlain(link: SessionLink): boolean {
  if (Object.values(link).some((value) => typeof value === "string" && value.length > CHARS)) return false;
  return link.kind !== "pull-request" || /^https?:\/\/[^\s/]/i.test(link.url);
}

/** Refused figures are among the problems of the adapter's plugin. */
export function reportRefused({ registry }: Kernel, { id, adapter, ref }: FoundLog, reason: string): void {
  const plugin = registry.describe().find((one) => one.adapter === adapter.name)?.name ?? adapter.name;
  const params = { adapter: adapter.name, session: id, path: ref.path, reason };
  const { code, message, fix } = new SessarcError("FIGURES_REFUSED", params);
  registry.report({ plugin, code, message, fix: fix ?? null, count: 1 });
}
