/** Servers of assistants' files as they are decided on: one block for each name, in which equal entries are one choice. */
import type { Answer } from "../../client.ts";
import { toolLabel } from "../../components/base/tools.ts";
import { language } from "../../i18n/index.ts";
import { hubText } from "./words/index.ts";

export type Entry = Answer<"GET /mcp/scan">["entries"][number];
/** Equal entries. */
export interface Variant {
  /** Of the first one. */
  key: string;
  entries: Entry[];
  importable: boolean;
}
export interface Block {
  key: string;
  first: Entry;
  variants: Variant[];
}
/** By the key of a variant: `skip`, `import`, `takeSource`, `keepHub`, or `rename:` and a name. */
export type Resolutions = Record<string, string>;

export function toBlocks(entries: readonly Entry[]): Block[] {
  const blocks = new Map<string, Block>();
  /** Of entries: their block. */
  const homes = new Map<string, Block>();
  for (const entry of entries) {
    const equal = homes.get(entry.duplicateOf ?? "");
    const twin = entry.service === null || entry.class === equal?.first.class ? equal : undefined;
    const key = blockKey(entry);
    const block = twin ?? blocks.get(key) ?? { key, first: entry, variants: [] };
    if (!twin) blocks.set(key, block);
    homes.set(entry.key, block);
    addTo(block, entry);
  }
  return [...blocks.values()];
}

/** What the hub has is one block, whichever files name it; so is what needs one decision. */
function blockKey({ class: of, service, slug, key }: Entry): string {
  if (of === "Conflict") return `${of} ${service ?? ""} ${slug}`;
  return of === "Unchanged" && service !== null ? `${of} ${service}` : key;
}

function addTo({ first, variants }: Block, entry: Entry): void {
  const isEqual = (one: Entry) => first.class === "Unchanged" || rootOf(one) === rootOf(entry);
  const same = variants.find((one) => one.importable === entry.importable && one.entries.some(isEqual));
  if (same) same.entries.push(entry);
  else variants.push({ key: entry.key, entries: [entry], importable: entry.importable });
}
const rootOf = ({ key, duplicateOf }: Entry): string => duplicateOf ?? key;

export const toolsOf = ({ entries }: Variant): string[] => [...new Set(entries.flatMap(({ tools }) => tools))];
/** As the language lists them: "A, B and C". */
export const namesOf = (variants: readonly Variant[]): string =>
  new Intl.ListFormat(language.value, { type: "conjunction" }).format(variants.flatMap(toolsOf).map(toolLabel));
export const importable = ({ variants }: Block): Variant[] => variants.filter((one) => one.importable);

/** Without a choice what the hub lacks, or what changed there, is imported. */
export function resolutionOf({ first }: Block, variant: Variant, resolutions: Resolutions): string {
  if (!variant.importable) return "skip";
  return resolutions[variant.key] ?? (first.class === "New" || first.class === "Updated" ? "import" : "skip");
}

/** What is chosen for the block: `skip`, `import`, `keepHub`, `rename`, or `use:` and the key of a variant. */
export function choiceOf(block: Block, resolutions: Resolutions): string {
  const chosen = importable(block).map((one) => ({ key: one.key, is: resolutionOf(block, one, resolutions) }));
  if (chosen.some(({ is }) => is.startsWith("rename:"))) return "rename";
  const used = chosen.find(({ is }) => is === "takeSource");
  return used ? `use:${used.key}` : (chosen[0]?.is ?? "skip");
}

/** What may be chosen where names collide; the hub's can be kept only where the hub has one. */
export function choicesOf(block: Block): string[] {
  const own = importable(block);
  const isInHub = block.first.service !== null;
  return [
    ...own.map(({ key }) => `use:${key}`),
    ...(isInHub ? ["keepHub"] : []),
    ...(isInHub || own.length > 1 ? ["rename"] : []),
    "skip",
  ];
}

/** Writes a choice into the resolutions. */
export function choose(
  block: Block,
  choice: string,
  resolutions: Resolutions,
  freeName: (slug: string) => string,
): void {
  const { service, slug } = block.first;
  importable(block).forEach(({ key }, i) => {
    if (choice.startsWith("use:")) resolutions[key] = choice === `use:${key}` ? "takeSource" : "skip";
    else if (choice !== "rename") resolutions[key] = choice;
    // One of them has the name, where the hub does not.
    else resolutions[key] = i === 0 && service === null ? "takeSource" : `rename:${freeName(slug)}`;
  });
}

/** The user has to choose: nothing is done without it. */
export const needsChoice = (block: Block, choice: string): boolean =>
  block.first.class === "Conflict" && choice === "skip" && importable(block).length > 0;

/** The name after `rename:`. */
export const newNameOf = (resolution: string): string | undefined => /^rename:(.*)$/s.exec(resolution)?.[1];

/** What becomes of it, and why, in a sentence or two. */
export function outcomeOf(block: Block, resolutions: Resolutions): string {
  const { first } = block;
  const name = first.service ?? first.name;
  const choice = choiceOf(block, resolutions);
  const own = importable(block);
  if (choice === "rename") {
    const names = own.map((one) => newNameOf(resolutionOf(block, one, resolutions)) ?? first.slug).join(", ");
    return hubText(first.service === null ? "will.each" : "will.rename", { names });
  }
  if (choice.startsWith("use:")) {
    const isUsed = ({ key }: Variant) => choice === `use:${key}`;
    const others = own.filter((one) => !isUsed(one));
    const tool = namesOf(own.filter(isUsed));
    const taken = hubText(first.service === null ? "will.takeThis" : "will.takeSource", { name, tool });
    return others.length > 0 ? `${taken} ${hubText("will.others", { tools: namesOf(others) })}` : taken;
  }
  if (choice === "keepHub") return hubText("will.keepHub", { name });
  if (choice === "import" && first.class === "Unchanged") return hubText("will.keepHub", { name });
  if (choice === "import") return hubText(first.class === "Updated" ? "will.update" : "will.add", { name });
  if (first.class === "Unchanged") return hubText("will.nothing", { name });
  return needsChoice(block, choice) ? hubText(`needs.${first.conflict ?? "name"}`, { name }) : hubText("will.stay");
}
