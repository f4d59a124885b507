/** Candidates and facts as evidence: texts cut around what was asked for, without secrets, harmless; with what became of the code. */
import { type Kernel, marks } from "sessarc";
import { maskFacts, type StoredFact } from "../facts/facts.ts";
import { clipLine } from "../facts/text.ts";
import type { Candidate } from "./candidates.ts";
import type { Evidence } from "./contract.ts";
import { placesOf, READ } from "./match.ts";
import { harmless } from "./quote.ts";
import { findCode } from "./state.ts";
import type { Term } from "./terms.ts";
import { textOf } from "./weigh.ts";

/** Characters of a message that are shown, and how many of them precede the most telling word. */
const SHOWN = 240;
const BEFORE = 80;
const PATH = 120;
const TITLE = 120;
const FILES = 3;

export async function showFacts(
  kernel: Kernel,
  facts: readonly StoredFact[],
  terms: readonly Term[],
): Promise<Evidence[]> {
  const masked = await maskFacts(kernel, facts);
  return Promise.all(
    masked.map(async ({ kind, session, seq, at, projectId, command, text, files, other }) => {
      const said = {
        title: await findTitle(kernel, session),
        ...(command !== "" && { command: await clean(kernel, command) }),
        text: await clean(kernel, text),
      };
      return {
        ...{ kind, session, seq, at, projectId },
        ...said,
        files: await cleanPaths(kernel, files),
        ...(other !== null && { other }),
        places: findPlaces(said, terms),
        fit: 1,
      };
    }),
  );
}

export async function toEvidence(
  kernel: Kernel,
  candidates: readonly Candidate[],
  terms: readonly Term[],
): Promise<Evidence[]> {
  if (candidates.length === 0) return [];
  const folders = await foldersOf(kernel, [...new Set(candidates.map(({ session }) => session))]);
  const roots = new Map<string, string | null>();
  for (const { projectId } of candidates)
    if (!roots.has(projectId)) roots.set(projectId, await kernel.inject("archive").projectPath(projectId));
  const shown: Evidence[] = [];
  for (const one of candidates) {
    const root = roots.get(one.projectId);
    const code = root ? await findCode(one.edits, root, folders.get(one.session) ?? null) : undefined;
    const [fact] = one.fact ? await showFacts(kernel, [one.fact], terms) : [await showMessage(kernel, one, terms)];
    if (fact) shown.push({ ...fact, ...(code && { code }), fit: Math.round(one.whole * 100) / 100 });
  }
  return shown;
}

async function showMessage(kernel: Kernel, one: Candidate, terms: readonly Term[]): Promise<Evidence> {
  const { kind, session, seq, event, projectId, place } = one;
  const text = textOf(event);
  const start = wordAt(text, Math.max(0, findPlace(text, place, terms) - BEFORE));
  const end = Math.min(text.length, start + SHOWN);
  const excerpt = await kernel.inject("redactor").excerpt(text, start, end);
  const line = await clean(kernel, excerpt);
  const said = {
    title: await findTitle(kernel, session),
    text: `${start > 0 ? "… " : ""}${end < text.length ? `${line} …` : line}`,
  };
  return {
    ...{ kind, session, seq, at: event.at ?? null, projectId },
    ...said,
    files: [],
    places: findPlaces(said, terms),
    fit: one.whole,
  };
}

/** Where the stretch begins that shows most of the words; `place`, the best hit of the rarest one, where none shows more. Linear in the first 16 KB. */
function findPlace(text: string, place: number, terms: readonly Term[]): number {
  const read = text.slice(0, READ);
  const hits = terms.flatMap((term, of) => placesOf(read, [term]).map(([at]) => ({ of, at })));
  hits.sort((a, b) => a.at - b.at);
  const around = hits.filter(({ at }) => at >= place - BEFORE && at < place + SHOWN - BEFORE);
  let best = { at: place, words: new Set(around.map(({ of }) => of)).size };
  const inside = new Map<number, number>();
  let last = 0;
  for (const { of, at } of hits) {
    for (let next = hits[last]; next && next.at < at + SHOWN - BEFORE; next = hits[++last])
      inside.set(next.of, (inside.get(next.of) ?? 0) + 1);
    if (inside.size > best.words) best = { at, words: inside.size };
    const left = (inside.get(of) ?? 0) - 1;
    if (left > 0) inside.set(of, left);
    else inside.delete(of);
  }
  return best.at;
}

function findPlaces(
  { title, command, text }: Pick<Evidence, "title" | "command" | "text">,
  terms: readonly Term[],
): Evidence["places"] {
  return { title: placesOf(title, terms), command: placesOf(command ?? "", terms), text: placesOf(text, terms) };
}

function wordAt(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + 40).search(/\s/);
  return space < 0 ? at : at + space + 1;
}

async function findTitle(kernel: Kernel, id: string): Promise<string> {
  const session = await kernel.inject("archive").find(id);
  return clipLine(await clean(kernel, session?.name ?? session?.title ?? session?.firstPrompt ?? ""), TITLE);
}

/** Masked again once it is plain: what stood between the parts of a secret is gone. */
export const clean = async (kernel: Kernel, text: string): Promise<string> =>
  harmless(clipLine(await kernel.inject("redactor").hideSecrets(harmless(text)), SHOWN + 60));

/** The first of them. */
export const cleanPaths = (kernel: Kernel, paths: readonly string[]): Promise<string[]> =>
  Promise.all(paths.slice(0, FILES).map(async (path) => (await clean(kernel, path)).slice(-PATH)));

/** Of these sessions the folders that they ran in. */
async function foldersOf({ storage: { db } }: Kernel, ids: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await db.all<{ id: string; cwd: string | null }>(
    `select id, cwd from session where id in (${marks(ids)})`,
    ids,
  );
  return new Map(rows.map(({ id, cwd }) => [id, cwd]));
}
