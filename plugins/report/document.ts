/** A report as Markdown and HTML: one structure, two writers; `terminal.ts` is the third. Text of the archive cannot change what is around it. */

import {
  formatAge,
  formatCount,
  formatDuration,
  formatMoney,
  formatShort,
  oneLine,
  toShortIds,
} from "sessarc/terminal";
import type { Report } from "./report.ts";

export interface Section {
  title: string;
  text?: string;
  head: string[];
  /** The first column is text; the others are figures. */
  rows: string[][];
}

const WASTES: Readonly<Record<string, string>> = {
  readEverywhere: "a file that many sessions read",
  failsFirst: "a tool whose first call fails",
  loop: "the same call again and again",
  retry: "a failed call repeated unchanged",
  reread: "a file read again without a change",
  undone: "an edit that was undone",
  compaction: "a compaction",
  wait: "a long wait",
};

const WASTED: Readonly<Record<Report["wasted"][number]["kind"], string>> = {
  reads: "reads that led to no change",
  retries: "failed calls repeated unchanged",
  failures: "calls that failed",
};

const ENDINGS: Readonly<Record<Report["unfinished"][number]["ending"], string>> = {
  unread: "ended with a failed call",
  unanswered: "ended without an answer",
  failedLast: "its last command failed",
};

function toWhole({ state, isAssumed }: { state: string; isAssumed: boolean }): string {
  const line = /^exact to line (\d+)$/.exec(state)?.[1];
  const words = line !== undefined ? `to line ${line}` : state === "exact" ? "all of it" : "parts of it";
  return isAssumed ? `${words}, assumed` : words;
}

const time = (iso: string) => {
  const at = new Date(iso);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
};

export const computeCost = (microdollars: number, unpriced: readonly string[]) =>
  microdollars === 0 && unpriced.length > 0 ? "no price" : formatMoney(microdollars);

export const toNumber = (count: number, what: string) => `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;

export const toTitle = ({ from, to }: Report) => (from === to ? `Report of ${from}` : `Report of ${from} to ${to}`);

/** `now`: of a terminal, where a session has its age, and an id that a command takes. */
export function toSections(report: Report, now?: number): Section[] {
  const { totals, previous, projects, windows, failing, wastes, wasted, unfinished } = report;
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  const without = totals.unpriced.length > 0 ? `, without ${totals.unpriced.join(", ")}` : "";
  const cost =
    totals.tokens === 0 && totals.microdollars === 0
      ? "tokens and cost not logged"
      : `${formatShort(totals.tokens)} tokens, ${formatMoney(totals.microdollars)} estimated${without}`;
  const all: Section[] = [
    {
      title: "Projects",
      text: `${toNumber(totals.sessions, "session")}, ${toNumber(totals.messages, "message")}, ${formatDuration(totals.activeMs)} active, ${cost}; ${formatMoney(previous.microdollars)} in as many days before.`,
      head: ["project", "sessions", "active", "tokens", "cost", "days before", "in git"],
      rows: projects.map(({ name, sessions, activeMs, tokens, microdollars, unpriced, previousMicrodollars, git }) => [
        name,
        formatCount(sessions),
        formatDuration(activeMs),
        tokens === 0 ? "" : formatShort(tokens),
        tokens === 0 && microdollars === 0 ? "not logged" : computeCost(microdollars, unpriced),
        formatMoney(previousMicrodollars),
        git === null
          ? "no repository"
          : [
              git.commit ? `${git.commit.hash.slice(0, 8)} ${git.commit.subject}` : "nothing committed",
              git.dirty ? "uncommitted changes now" : "",
            ]
              .filter(Boolean)
              .join("; "),
      ]),
    },
    ...projects.flatMap(({ name, titles }): Section[] =>
      titles && titles.length > 0
        ? [{ title: `Sessions of ${name}`, head: ["session"], rows: titles.map((title) => [title]) }]
        : [],
    ),
    {
      title: "Windows",
      text: "The most expensive windows of five hours; the limit is what the provider reported.",
      head: ["assistant", "from", "to", "tokens", "cost", "limit"],
      rows: windows.map(({ tool, start, end, tokens, microdollars, unpriced, usedPercent }) => [
        tool,
        time(start),
        time(end),
        formatShort(tokens),
        computeCost(microdollars, unpriced),
        usedPercent === null ? "" : `${Math.round(usedPercent)} %`,
      ]),
    },
    {
      title: "Failing tools",
      head: ["tool", "failed", "calls"],
      rows: failing.map(({ name, errors, calls }) => [name, formatCount(errors), formatCount(calls)]),
    },
    {
      title: "Wasted",
      head: ["what", "where", "times", "sessions", "≈ tokens", "time"],
      rows: wastes.map(({ kind, tool, subject, count, sessions, tokens, ms }) => [
        WASTES[kind] ?? kind,
        [tool, subject].filter(Boolean).join(" "),
        formatCount(count),
        formatCount(sessions),
        tokens > 0 ? formatShort(tokens) : "",
        ms > 0 ? formatDuration(ms) : "",
      ]),
    },
    {
      title: "Led to nothing",
      text: "Tokens are estimated from the length of the text. The cost is that of sending them once; a call may count in more than one row.",
      head: ["what", "times", "sessions", "≈ tokens", "≈ cost"],
      rows: wasted.map(({ kind, count, sessions, tokens, microdollars }) => [
        WASTED[kind],
        formatCount(count),
        formatCount(sessions),
        formatShort(tokens),
        microdollars === null ? "" : formatMoney(microdollars),
      ]),
    },
    now !== undefined
      ? toUnfinished(report, names, now)
      : {
          title: "Ended unfinished",
          text: "Continue one of them in its assistant by the command: sessarc resume, and its id.",
          head: ["session", "project", "ended", "why"],
          rows: unfinished.map(({ id, title, project, endedAt, ending, command }) => [
            title === null ? id : `${title} (${id})`,
            names.get(project) ?? project,
            endedAt === null ? "" : time(endedAt),
            [ENDINGS[ending], command].filter(Boolean).join(": "),
          ]),
        },
    ...toDestroyed(report, now),
  ];
  return all.filter(({ rows }) => rows.length > 0);
}

function toDestroyed({ destroyed }: Report, now: number | undefined): Section[] {
  if (!destroyed) return [];
  const { files, sessions, rows } = destroyed;
  const ids = now === undefined ? undefined : toShortIds(rows.map(({ session }) => session));
  const shown = rows.length < files ? `; these are ${rows.length} of them` : "";
  return [
    {
      title: "Destroyed files",
      text: `${toNumber(files, "file")} of ${toNumber(sessions, "session")}, neither on the disk nor in git${shown}. ${
        now === undefined
          ? "Put back what is left by the command: sessarc undelete --session, the id, --to and a new folder."
          : "`sessarc undelete --session <id> --to <folder>` puts back what is left."
      }`,
      head: ["file", "by", "when", "can be had back", "id"],
      rows: rows.map(({ path, how, at, session, ...version }) => [
        path,
        how,
        at === null ? "" : time(at),
        toWhole(version),
        ids?.get(session) ?? session,
      ]),
    },
  ];
}

function toUnfinished({ unfinished }: Report, names: ReadonlyMap<string, string>, now: number): Section {
  const ids = toShortIds(unfinished.map(({ id }) => id));
  return {
    title: "Ended unfinished",
    text: "`sessarc resume <id>` goes on with one in its assistant.",
    head: ["session", "project", "age", "why", "id"],
    rows: unfinished.map(({ id, title, project, endedAt, ending }) => [
      title ?? "(untitled)",
      names.get(project) ?? project,
      formatAge(endedAt, now),
      ENDINGS[ending],
      ids.get(id) ?? id,
    ]),
  };
}

/** Every character with a meaning in Markdown is escaped, and a line stays one. */
const inline = (text: string) => oneLine(text).replace(/[\\`*_[\]<>#|~&!]/g, "\\$&");

export function toMarkdown(report: Report): string {
  const parts = toSections(report).map(({ title, text, head, rows }) => {
    const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
    const rule = line(head.map((_, i) => (i === 0 ? "---" : "---:")));
    const table = [line(head), rule, ...rows.map((row) => line(row.map(inline)))].join("\n");
    return `## ${inline(title)}\n\n${text ? `${inline(text)}\n\n` : ""}${table}\n`;
  });
  return `# ${toTitle(report)}\n\n${parts.length > 0 ? parts.join("\n") : "Nothing happened in these days.\n"}`;
}

const html = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const STYLE = `:root{color-scheme:light dark}body{font:14px/22px system-ui,sans-serif;max-width:1000px;margin:32px auto;padding:0 16px}
h1{font-size:20px}h2{font-size:16px;margin-top:32px}table{border-collapse:collapse;width:100%}
th,td{padding:4px 12px 4px 0;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);text-align:end;font-variant-numeric:tabular-nums;vertical-align:top}
th:first-child,td:first-child{text-align:start;overflow-wrap:anywhere}th{font-weight:500;opacity:.75}div{overflow-x:auto}`;

export function toHtml(report: Report): string {
  const parts = toSections(report).map(({ title, text, head, rows }) => {
    const cells = (tag: string, row: readonly string[]) => row.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join("");
    const body = rows.map((row) => `<tr>${cells("td", row)}</tr>`).join("\n");
    return `<h2>${html(title)}</h2>\n${text ? `<p>${html(text)}</p>\n` : ""}<div tabindex="0"><table>\n<thead><tr>${cells("th", head)}</tr></thead>\n<tbody>\n${body}\n</tbody></table></div>`;
  });
  const title = html(toTitle(report));
  const rest = parts.length > 0 ? parts.join("\n") : "<p>Nothing happened in these days.</p>";
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>\n<body><h1>${title}</h1>\n${rest}\n</body></html>\n`;
}
