/** Lines of a file with all that is known of their writers: the answer of GET /git/writers. */
import { type Kernel, type Services, type SessionEvent, toList, toNumber, toRecord, toText } from "sessarc";
import { GIT_AI_REF, type NotedAgent, readGitAi } from "./authorship/git-ai.ts";
import { readPrompts } from "./indexer/rows.ts";
import { type Origins, readOrigins, type Writer } from "./origins.ts";

type Blamed = Awaited<ReturnType<Services["git"]["blameAt"]>>;
type Cost = ReturnType<Services["pricing"]["cost"]>;

/** A read or search that led to the call. */
interface ReadBefore {
  seq: number;
  tool_name: string;
  path: string | null;
  pattern: string | null;
  score: number;
  /** In words. */
  reason: string;
}

interface Prompt {
  seq: number;
  at: string | null;
  text: string;
  /** Of a short prompt ("Yes."): the last paragraph of the assistant's message before it; null where there is none. */
  answers: { seq: number; text: string } | null;
}

export interface WriterDetail extends Writer {
  /** The model that answered the prompt; null where the log does not name it. */
  model: string | null;
  /** What the call answers; null where no prompt comes before it. */
  prompt: Prompt | null;
  /** Tokens' price of the whole prompt; null where the log does not show it. */
  cost: Cost | null;
  /** Best first, ten at most. */
  reads: ReadBefore[];
}

export interface LineOrigins extends Omit<Origins, "lines" | "writers"> {
  /** The archived project; null for a repository without sessions. */
  project: string | null;
  /** The lines that were asked for; null for a file that is binary or larger than 2 MiB. */
  lines:
    | (NonNullable<Origins["lines"]>[number] & {
        /** From 1. */
        number: number;
        /** Its number in its commit's version. */
        original: number;
        /** Whom a note of git-ai names, where no archived session wrote the line. */
        noted: NotedAgent | null;
      })[]
    | null;
  /** Writers of these lines; those after the first 20 without prompt, cost and reads. */
  writers: WriterDetail[];
  /** Header lines of `git blame --porcelain` of each commit, where they were asked for. */
  headers: string[][] | null;
}

/** Writers whose session is read for details. */
const DETAILED = 20;
/** Characters of a prompt. */
const PROMPT = 2_000;
/** Characters of a prompt that may say nothing without what it answers. */
const REPLY = 60;
/** Messages before a prompt among which the one that it answers is looked for. */
const BEFORE = 20;

export async function lineOrigins(
  kernel: Kernel,
  project: string | undefined,
  root: string,
  tree: string,
  blamed: Blamed,
  { from = 1, to = Number.POSITIVE_INFINITY }: { from?: number | undefined; to?: number | undefined },
  withHeaders: boolean,
): Promise<LineOrigins> {
  const origins = await readOrigins(kernel, project, root, blamed);
  const lines =
    origins.lines?.map((line, i) => ({
      ...line,
      number: i + 1,
      original: blamed.file?.lines[i]?.original ?? i + 1,
    })) ?? null;
  const chosen = lines?.slice(from - 1, to) ?? null;
  const noted = await notedIn(kernel, tree, origins, chosen ?? []);
  const commits = distinct(chosen?.map(({ commit }) => commit) ?? []);
  const writers = distinct(chosen?.flatMap(({ writer }) => writer ?? []) ?? []);
  const details: WriterDetail[] = [];
  for (const [i, place] of writers.entries()) {
    const writer = origins.writers[place];
    if (writer) details.push(i < DETAILED ? await readDetail(kernel, writer, blamed.path) : plain(writer));
  }
  return {
    ...origins,
    project: project ?? null,
    commits: commits.flatMap((place) => origins.commits[place] ?? []),
    lines:
      chosen?.map((line, i) => ({
        ...line,
        noted: noted[i] ?? null,
        commit: commits.indexOf(line.commit),
        writer: line.writer === null ? null : writers.indexOf(line.writer),
      })) ?? null,
    writers: details,
    headers: withHeaders
      ? commits.map((place) => blamed.file?.headers.get(origins.commits[place]?.hash ?? "") ?? [])
      : null,
  };
}

/** Commits whose notes are read. */
const NOTED = 500;

async function notedIn(
  kernel: Kernel,
  tree: string,
  { commits }: Origins,
  lines: readonly { commit: number; writer: number | null; original: number }[],
): Promise<(NotedAgent | undefined)[]> {
  const open = distinct(lines.flatMap(({ commit, writer }) => (writer === null ? [commit] : []))).slice(0, NOTED);
  const hashes = open.flatMap((place) => commits[place]?.hash ?? []);
  const notes = await kernel.inject("git").notes(tree, GIT_AI_REF, hashes);
  if (notes.size === 0) return [];
  const entries = new Map(
    open.map((place) => {
      const commit = commits[place];
      return [place, readGitAi(notes.get(commit?.hash ?? "") ?? "", commit?.path ?? "")] as const;
    }),
  );
  return lines.map(({ commit, writer, original }) =>
    writer === null
      ? entries.get(commit)?.findLast(({ from, to }) => from <= original && original <= to)?.agent
      : undefined,
  );
}

const distinct = (values: readonly number[]): number[] => [...new Set(values)];
const plain = (writer: Writer): WriterDetail => ({ ...writer, model: null, prompt: null, cost: null, reads: [] });

export async function readDetail(kernel: Kernel, writer: Writer, path: string): Promise<WriterDetail> {
  const { sessionId: id, seq } = writer;
  const row = await kernel.storage.db.get<{ prompts: string }>("select prompts from blame_session where session = ?", [
    id,
  ]);
  const prompts = readPrompts(row?.prompts ?? "[]");
  const place = prompts.findLastIndex((one) => one.seq < seq);
  const prompt = prompts[place];
  const [asked, cost, reads] = await Promise.all([
    prompt && prompt.seq >= 0 ? readPrompt(kernel, id, prompt.seq, prompts[place - 1]?.seq ?? -1) : undefined,
    prompt && computeCost(kernel, id, prompt.seq),
    readsBefore(kernel, id, seq, path),
  ]);
  const at = prompt?.at ?? null;
  return {
    ...writer,
    model: prompt?.model ?? null,
    prompt: prompt && asked ? { seq: prompt.seq, at: at === null ? null : new Date(at).toISOString(), ...asked } : null,
    cost: cost ?? null,
    reads,
  };
}

/** Without the word at the cut: half of a secret would not be recognized as one. */
function cutPrompt(text: string): string {
  return text.length <= PROMPT ? text : `${text.slice(0, PROMPT).replace(/\S+$/, "")}…`;
}

/** The prompt `seq`; `last`: the one before it. */
async function readPrompt(
  kernel: Kernel,
  id: string,
  seq: number,
  last: number,
): Promise<Pick<Prompt, "text" | "answers"> | undefined> {
  const archive = kernel.inject("archive");
  const row = await archive.find(id);
  if (!row) return undefined;
  let answered: SessionEvent | undefined;
  for await (const events of archive.events(row, Math.max(0, last + 1, seq - BEFORE)))
    for (const event of events) {
      if (event.seq === seq) {
        const isReply = event.text.trim().length <= REPLY;
        const said = isReply && answered ? lastParagraph(answered.text) : "";
        return {
          text: cutPrompt(event.text),
          answers: answered && said !== "" ? { seq: answered.seq, text: cutPrompt(said) } : null,
        };
      }
      if (event.kind === "assistant" && event.text.trim() !== "") answered = event;
    }
  return undefined;
}

/** A message ends with its question. No secret has a blank line in it: none is cut. */
const lastParagraph = (text: string): string =>
  text
    .split(/\n\s*\n/)
    .findLast((part) => /[\p{L}\p{N}]/u.test(part))
    ?.trim() ?? "";

/** The price of a prompt is the one of GET /sessions/:id/prompts, where there is one. */
async function computeCost(kernel: Kernel, id: string, seq: number): Promise<Cost | undefined> {
  const answer = await ask(kernel, `/sessions/${encodeURIComponent(id)}/prompts`);
  const found = toList(answer?.prompts)
    .map(toRecord)
    .find((one) => one.seq === seq);
  const { microdollars, pricedAt, unpriced } = toRecord(found?.cost);
  const amount = toNumber(microdollars);
  if (amount === undefined) return undefined;
  const names = toList(unpriced).flatMap((name) => toText(name) ?? []);
  return { microdollars: amount, pricedAt: toText(pricedAt) ?? "", unpriced: names };
}

async function readsBefore(kernel: Kernel, id: string, seq: number, path: string): Promise<ReadBefore[]> {
  const answer = await ask(kernel, `/sessions/${encodeURIComponent(id)}/causality`);
  const changes = toList(answer?.changes)
    .map(toRecord)
    .filter((one) => one.seq === seq);
  const change = changes.find((one) => toText(one.path)?.endsWith(path)) ?? changes[0];
  return toList(change?.causes).map((value) => {
    const cause = toRecord(value);
    return {
      seq: toNumber(cause.seq) ?? 0,
      tool_name: toText(cause.tool_name) ?? "",
      path: toText(cause.path) ?? null,
      pattern: toText(cause.pattern) ?? null,
      score: toNumber(cause.score) ?? 0,
      reason: toText(cause.reason) ?? "",
    };
  });
}

/** A route of another plugin; undefined where that plugin is not loaded or cannot answer for this session. */
async function ask(kernel: Kernel, path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const response = await kernel.fetch(`/api${path}`);
  return response.ok ? toRecord(await response.json()) : undefined;
}
