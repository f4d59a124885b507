/** GET /git/line: why one line exists, be it a line of a file at a commit or one that a call of a session shows. */
import { type Kernel, type Services, SessarcError } from "sessarc";
import type { NotedAgent } from "./authorship/git-ai.ts";
import { toKey } from "./indexer/keys.ts";
import type { LineEvidence } from "./match/match.ts";
import { type Origins, readOrigins, toWriter, type Writer } from "./origins.ts";
import { lineOrigins, readDetail, type WriterDetail } from "./reasons.ts";
import { fileAt, readPlaces, writesInto } from "./writes.ts";

export interface LineWhy {
  /** Null where no archived project holds the file. */
  project: string | null;
  /** Below the project's folder, where the project has one. */
  path: string;
  text: string;
  /** Number of the line in the file at `at`; null where the file does not hold the line there. */
  number: number | null;
  /** The commit whose version of the file was read; null without a repository, or where the commit lacks the file. */
  at: { commit: string; at: string } | null;
  /** The commit that brought the line. */
  commit: Origins["commits"][number] | null;
  writer: WriterDetail | null;
  evidence: LineEvidence | null;
  /** The agent that a note of git-ai names, where no archived session wrote the line. */
  noted: NotedAgent | null;
}

/** Where a file lies: its project and its path in it. */
interface LinePlace {
  project: string | undefined;
  root: string;
  tree: string;
  file: string;
}

/** Line `number` of a file at a commit. */
export async function whyAt(
  kernel: Kernel,
  { project, root, tree, file }: LinePlace,
  at: string | undefined,
  number: number,
): Promise<LineWhy> {
  const git = kernel.inject("git");
  const commit = at === undefined ? undefined : await git.resolve(tree, at);
  const blamed = await git.blameAt(tree, commit, file);
  const found = await lineOrigins(kernel, project, root, tree, blamed, { from: number, to: number }, false);
  const [line] = found.lines ?? [];
  const [writer] = found.writers;
  return {
    project: found.project,
    path: found.path,
    text: line?.text ?? "",
    number: line ? number : null,
    at: { commit: found.commit, at: found.at },
    commit: found.commits[line?.commit ?? -1] ?? null,
    writer: (line?.writer === null ? undefined : writer) ?? null,
    evidence: line?.evidence ?? null,
    noted: line?.noted ?? null,
  };
}

/** A line that a call shows. */
interface ShownLine {
  session: string;
  seq: number;
  /** As the call writes it. */
  path: string;
  text: string;
  /** The line was in the file before the call. */
  before: boolean;
}

/** A line that a call wrote, or found in the file: its writer is known without the repository, which adds the commit. */
export async function whyShown(kernel: Kernel, shown: ShownLine): Promise<LineWhy> {
  const archive = kernel.inject("archive");
  const row = await archive.get(shown.session);
  const event = await eventAt(kernel, row, shown.seq);
  if (!event) throw new SessarcError("INVALID_INPUT", { reason: `${shown.session} has no message ${shown.seq}` });
  const root = await archive.projectPath(row.projectId);
  const file = fileAt(shown.path, (await readPlaces(kernel, row.projectId, root ?? ""))(row));
  const path = file.startsWith("./") ? file.slice(2) : file;
  const at = Date.parse(event.at ?? row.endedAt ?? "") || row.sortAt;
  const call: Writer = {
    ...{ sessionId: row.id, tool: row.tool, title: row.name ?? row.title ?? row.firstPrompt, seq: shown.seq },
    ...{ at: new Date(at).toISOString(), name: event.tool_name ?? "" },
  };
  const key = toKey(shown.text);
  const earlier = async () => {
    const writes = await writesInto(kernel, row.projectId, root ?? "", new Set([path]));
    return writes.findLast(
      (one) => (one.author.id === row.id ? one.seq < shown.seq : one.at < at) && one.lines.includes(key),
    );
  };
  const known = shown.before ? await earlier().then((write) => write && toWriter(write)) : call;
  // A line that no session wrote is looked up where the call found it, any other where it is now.
  const origins =
    root === null ? undefined : await originsAt(kernel, row.projectId, root, path, known ? undefined : at);
  const is = (writer: Writer | undefined) => writer?.sessionId === known?.sessionId && writer?.seq === known?.seq;
  const lines = origins?.lines ?? [];
  const same = lines.flatMap((line, i) => (toKey(line.text) === key ? [i] : []));
  const place = same.find((i) => is(origins?.writers[lines[i]?.writer ?? -1])) ?? (known ? undefined : same[0]);
  const line = lines[place ?? -1];
  const writer = known ?? origins?.writers[line?.writer ?? -1];
  return {
    project: row.projectId,
    path,
    text: shown.text,
    number: place === undefined ? null : place + 1,
    at: origins ? { commit: origins.commit, at: origins.at } : null,
    commit: origins?.commits[line?.commit ?? -1] ?? null,
    writer: writer ? await readDetail(kernel, writer, path) : null,
    evidence: writer ? (line?.evidence ?? "line") : null,
    noted: null,
  };
}

async function eventAt(kernel: Kernel, row: Parameters<Services["archive"]["events"]>[0], seq: number) {
  for await (const [event] of kernel.inject("archive").events(row, seq)) return event;
  return undefined;
}

/** Codes of a repository that cannot answer: the line's writer is known without it. */
const NO_ANSWER = new Set(["NO_REPOSITORY", "COMMIT_NOT_FOUND", "FILE_NOT_FOUND", "OBJECT_MISSING", "GIT_MISSING"]);

/** Lines of a file at HEAD, or at the commit that was current at `ms`; undefined where git has no such file. */
async function originsAt(
  kernel: Kernel,
  project: string,
  root: string,
  path: string,
  ms: number | undefined,
): Promise<Origins | undefined> {
  const git = kernel.inject("git");
  try {
    const commit = ms === undefined ? undefined : (await git.commitAt(root, new Date(ms).toISOString())).commit?.hash;
    return await readOrigins(kernel, project, root, await git.blameAt(root, commit, path));
  } catch (error) {
    if (error instanceof SessarcError && NO_ANSWER.has(error.code)) return undefined;
    throw error;
  }
}
