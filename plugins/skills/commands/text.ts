/** Skills as text for a terminal. */

import { type CommandContext, createStyle, formatBytes, formatTable, printable } from "sessarc/terminal";
import type { Scan, ScanEntry, Skill, SkillDetail, SkillLink, Snapshot } from "../types.ts";

type Terminal = Pick<CommandContext, "colour" | "columns">;

const headOf = ({ colour, columns }: Terminal) => ({ width: columns, head: createStyle(colour).dim });

/** What is worth a word: where it is linked, and what is wrong with a link. */
function linksText(links: readonly SkillLink[]): string {
  const words = links.flatMap(({ tool, scope, state, mode }) => {
    const where = scope === "project" ? `${tool} (project)` : tool;
    if (state === "linked") return mode === "copy" ? `${where} (copy)` : where;
    return state === "broken" || state === "edited" ? `${where} (${state})` : [];
  });
  return words.join(", ") || "-";
}

export const skillsText = (skills: readonly Skill[], terminal: Terminal): string =>
  formatTable<Skill>(
    [
      { title: "skill", value: (skill) => printable(skill.id) },
      { title: "linked into", value: (skill) => linksText(skill.links), shrink: true },
      { title: "drift", value: (skill) => (skill.problem === null ? skill.drift : "broken") },
      { title: "uses", value: (skill) => String(skill.usage.invocations), align: "right" },
      { title: "last used", value: (skill) => skill.usage.lastUsedAt?.slice(0, 10) ?? "never" },
      { title: "description", value: (skill) => printable(skill.description), shrink: true },
    ],
    skills,
    headOf(terminal),
  );

export const scanText = ({ entries }: Scan, terminal: Terminal): string =>
  formatTable<ScanEntry>(
    [
      { title: "class", value: (entry) => entry.class },
      { title: "skill", value: (entry) => printable(entry.name) },
      { title: "assistants", value: (entry) => entry.tools.join(", "), shrink: true },
      { title: "path", value: (entry) => printable(entry.path), shrink: true },
      { title: "reason", value: reasonText, shrink: true },
    ],
    entries,
    headOf(terminal),
  );

function reasonText({ reason, detail, line, duplicateOf }: ScanEntry): string {
  if (reason === null) return "";
  const of = duplicateOf === null ? "" : ` as ${printable(duplicateOf)}`;
  return `${printable(detail ?? reason)}${of}${line === null ? "" : ` (line ${line})`}`;
}

export const snapshotsText = (snapshots: readonly Snapshot[], terminal: Terminal): string =>
  formatTable<Snapshot>(
    [
      { title: "snapshot", value: (snapshot) => snapshot.id },
      { title: "at", value: (snapshot) => snapshot.at.slice(0, 19).replace("T", " ") },
      { title: "because of", value: (snapshot) => snapshot.reason },
      { title: "files", value: (snapshot) => String(snapshot.files), align: "right" },
      { title: "size", value: (snapshot) => formatBytes(snapshot.size), align: "right" },
      { title: "", value: (snapshot) => (snapshot.current ? "current" : "") },
    ],
    snapshots,
    headOf(terminal),
  );

export function detailText(skill: SkillDetail, { colour }: Terminal): string {
  const style = createStyle(colour);
  const { use, origin } = skill;
  const rows: [string, string][] = [
    ["Description", printable(skill.description)],
    [
      "From",
      origin?.kind === "git" ? `${origin.url}/${origin.path} at ${origin.commit?.slice(0, 12)}` : (origin?.path ?? "-"),
    ],
    ["Linked into", linksText(skill.links)],
    ["Drift", skill.drift],
    [
      "Used",
      `${use.invocations} times in ${use.sessions} sessions of ${use.projects} projects, ${use.failures} failed`,
    ],
    ["Last used", use.lastUsedAt ?? "never"],
    ["Files", skill.files.map((file) => printable(file.path)).join(", ")],
  ];
  if (skill.problem !== null) rows.push(["Problem", printable(skill.problem)]);
  for (const warning of skill.warnings) rows.push(["Warning", printable(warning)]);
  const facts = rows.map(([name, value]) => `${style.dim(name.padEnd(12))}${value}`);
  const content = skill.content === null ? [] : ["", ...skill.content.split(/\r?\n/).map(printable)];
  return [style.bold(printable(skill.id)), ...facts, ...content].join("\n");
}
