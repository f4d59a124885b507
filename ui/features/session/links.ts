/** Addresses in plain text. */
export interface LinkPart {
  text: string;
  /** http or https only. */
  href?: string;
}

const ADDRESS = /https?:\/\/[^\s"'<>`\\^{|}]+/g;
/** Longer text stays text. */
const MOST = 200;

export function linkParts(text: string): LinkPart[] {
  if (!text.includes("://")) return [{ text }];
  const parts: LinkPart[] = [];
  let from = 0;
  for (const hit of text.matchAll(ADDRESS)) {
    if (parts.length >= MOST) break;
    // What ends a sentence or a bracket around the address is no part of it.
    const href = hit[0].replace(/[.,;:!?)\]]+$/, "");
    if (!URL.canParse(href)) continue;
    if (hit.index > from) parts.push({ text: text.slice(from, hit.index) });
    parts.push({ text: href, href });
    from = hit.index + href.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

/** `src/a.ts`, `src/a.ts:12`, `./a.ts`: a path as people and models write it. No addresses, no commands. */
export function pathIn(text: string): string | undefined {
  const [, path] =
    /^((?:\/|\.{1,2}\/)?[\w@.+-]+(?:\/[\w@.+-]+)*\.[A-Za-z]\w{0,9}|(?:\/|\.{1,2}\/)?[\w@.+-]+(?:\/[\w@.+-]+)+)(?::\d+(?::\d+)?|#L\d+(?:-L?\d+)?)?$/.exec(
      text.trim(),
    ) ?? [];
  return path === undefined || path.length > 300 ? undefined : path.replace(/^\.\//, "");
}
