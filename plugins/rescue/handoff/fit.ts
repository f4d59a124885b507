/** Sections of a text within a number of tokens. */

export interface Section {
  title: string;
  /** One text, or the rows of a list, the most important first. */
  content: string | readonly string[];
  /** Part of the budget it may take when there is not room for all. */
  share: number;
}

/** Tokens of a text, about: four characters each, but one for each of a script that is written without spaces. */
export function tokensIn(text: string): number {
  const wide = text.match(/[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / 4);
}

/** Head and sections, at most `budget` tokens. What a section does not need goes to the others, in order. */
export function fitSections(head: string, sections: readonly Section[], budget: number): string {
  const filled = sections.filter(({ content }) => content.length > 0);
  const needs = filled.map((section) => tokensIn(render(section)) + ROUNDING);
  const room = Math.max(0, budget - tokensIn(head) - 1);
  const granted = filled.map((section, i) => Math.min(needs[i] ?? 0, Math.floor(room * section.share)));
  let left = room - granted.reduce((sum, one) => sum + one, 0);
  for (const [i, need] of needs.entries()) {
    const more = Math.min(left, need - (granted[i] ?? 0));
    granted[i] = (granted[i] ?? 0) + more;
    left -= more;
  }
  const texts = filled.map((section, i) => cut(section, granted[i] ?? 0)).filter((text) => text !== "");
  return [head, ...texts].join("\n\n");
}

const render = ({ title, content }: Section): string =>
  `## ${title}\n${typeof content === "string" ? content : content.map((row) => `- ${row}`).join("\n")}`;

function cut(section: Section, tokens: number): string {
  const { title, content } = section;
  // Rounding: a section is joined to the others by two line ends.
  const most = tokens - 1;
  if (typeof content === "string") {
    const room = most - tokensIn(`## ${title}\n`);
    // A short text is whole, or not there.
    return room < Math.min(SMALLEST, tokensIn(content)) ? "" : `## ${title}\n${clipTokens(content, room)}`;
  }
  const rows: string[] = [];
  for (const row of content) {
    if (tokensIn(render({ ...section, content: [...rows, row] })) > most) break;
    rows.push(row);
  }
  return rows.length === 0 ? "" : render({ ...section, content: rows });
}
/** Title and text are counted apart, and sections are joined: each is rounded up. */
const ROUNDING = 3;
/** A section of fewer tokens says nothing. */
const SMALLEST = 8;

/** The beginning of a text, in whole characters. */
export function clipTokens(text: string, tokens: number): string {
  if (tokensIn(text) <= tokens) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (tokensIn(`${text.slice(0, middle)}…`) <= tokens) low = middle;
    else high = middle - 1;
  }
  // Never half of a pair.
  const end = /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low;
  return `${text.slice(0, end).trimEnd()}…`;
}
