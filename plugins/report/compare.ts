/** Two periods in a sentence: these days, and as many right before. */
import { formatDuration, formatMoney } from "sessarc/terminal";
import { computeCost, toNumber } from "./document.ts";
import type { Report } from "./report.ts";

export function toComparison(report: Report): string {
  const { totals, previous, projects, previousOnly } = report;
  const days = toDays(report);
  const before = toDays(report.before);
  const cost = computeCost(totals.microdollars, totals.unpriced);
  if (previous.sessions === 0)
    return `${days}: ${cost}, ${toNumber(totals.sessions, "session")}, ${formatDuration(totals.activeMs)} active. Nothing was done in ${before}.`;
  const changes = [
    ...projects.map(({ name, microdollars, previousMicrodollars }) => ({
      name,
      by: microdollars - previousMicrodollars,
    })),
    ...previousOnly.map(({ name, microdollars }) => ({ name, by: -microdollars })),
  ].sort((a, b) => b.by - a.by);
  const [most, least] = [changes[0], changes.at(-1)];
  const parts = [
    most && most.by > 0 && `${most.name} cost ${formatMoney(most.by)} more`,
    least && least.by < 0 && `${least.name} ${formatMoney(-least.by)} less`,
  ].filter((part) => part !== false && part !== undefined);
  return [
    `${days}: ${cost}, ${toChange(totals.microdollars, previous.microdollars)} ${computeCost(previous.microdollars, previous.unpriced)} of ${before};`,
    `${toNumber(totals.sessions, "session")} (${previous.sessions} before), ${formatDuration(totals.activeMs)} active (${formatDuration(previous.activeMs)} before).`,
    ...(parts.length > 0 ? [`${parts.join(", ")}.`] : []),
    ...(totals.unpriced.length > 0 ? [`Without ${totals.unpriced.join(", ")}, which have no price.`] : []),
  ].join(" ");
}

const toDays = ({ from, to }: { from: string; to: string }) => (from === to ? from : `${from} to ${to}`);

function toChange(now: number, before: number): string {
  if (now === before) return "as much as the";
  if (before === 0) return "more than the";
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  return `${percent === 0 ? "less than 1" : percent}% ${now > before ? "more" : "less"} than the`;
}
