/** Who wrote the lines of a range of commits, how they were checked, and whether secrets passed. Linear in the patches of the range. */
import { type Kernel, mustYield, type Services, toList, toRecord, toText, yieldNow } from "sessarc";
import { GIT_AI_REF, readGitAi } from "../authorship/git-ai.ts";
import type { Place } from "../place.ts";
import { type Accounts, landingFor, landingUpTo, readAccounts } from "../receipt/accounts.ts";
import { groupBy } from "../receipt/group.ts";
import { firstSession, type Landed } from "../receipt/landing.ts";
import { type CheckKind, type CheckOutcome, type CheckRun, outcomeOf, readChecks } from "./checks.ts";
import { readTrailers, type TrailerAgent } from "./trailers.ts";

type CommitPatch = Awaited<ReturnType<Services["git"]["patches"]>>[number];

/**
 * Added lines. `assistant`: a session, a note of git-ai or a trailer names one. `mixed`: an assistant wrote a piece of the line. `person`: no
 * archived session wrote it, in a time of which sessions are archived. `unknown`: nothing says who wrote it.
 */
export interface LineCounts {
  assistant: number;
  mixed: number;
  person: number;
  unknown: number;
}

export interface VerifiedFile extends LineCounts {
  path: string;
}

export interface VerifiedCommit extends LineCounts {
  hash: string;
  author: string;
  at: string;
  subject: string;
  files: VerifiedFile[];
  sessions: string[];
  /** What its message says, where no archived session wrote a line of it. */
  trailer: TrailerAgent | null;
  /** A note of git-ai was read. */
  noted: boolean;
}

export interface VerifiedSession {
  id: string;
  tool: string;
  title: string | null;
  models: string[];
  /** Prompts that led to lines of the range. */
  prompts: number;
  /** Share of the range; null without a price for a model. */
  microdollars: number | null;
  lines: number;
  /** Files read that led to its changes. */
  reads: number;
  checks: Record<CheckKind, CheckOutcome>;
}

export interface PassedSecret {
  commit: string;
  path: string;
  line: number;
  rule: string;
  confidence: "definite" | "probable" | "possible";
}

export interface Verification {
  range: string;
  /** The last commit of the range. */
  head: string | null;
  /** Oldest first. */
  commits: VerifiedCommit[];
  total: LineCounts;
  sessions: VerifiedSession[];
  /** In the order of their sessions; the last 200. */
  checks: CheckRun[];
  /** In added lines. */
  secrets: PassedSecret[];
  /** Lines by assistants that a later commit of HEAD rewrote or reverted. */
  rewritten: number;
  /** Nothing of the repository is archived: notes and trailers alone were read. */
  notesOnly: boolean;
}

const ZERO: LineCounts = { assistant: 0, mixed: 0, person: 0, unknown: 0 };
/** Sessions whose messages are read. */
const READ = 50;
const CHECKS = 200;

export async function readVerification(
  kernel: Kernel,
  { project, root, tree }: Place,
  range: string,
): Promise<Verification> {
  const git = kernel.inject("git");
  const patches = await git.rangePatches(tree, range);
  const hashes = new Set(patches.map(({ hash }) => hash));
  const head = patches.at(-1)?.hash;
  const landing =
    project === undefined || head === undefined
      ? { landed: [], commits: [] }
      : await landingUpTo(kernel, project, root, head);
  const landedIn = await groupBy(
    landing.landed.filter(({ commit }) => hashes.has(commit)),
    ({ commit }) => commit,
  );
  const notes = await git.notes(tree, GIT_AI_REF, [...hashes]);
  const first = project === undefined ? undefined : await firstSession(kernel, project);
  const since = first ?? Number.POSITIVE_INFINITY;
  const commits: VerifiedCommit[] = [];
  for (const patch of patches)
    commits.push(await readCommit(patch, landedIn.get(patch.hash) ?? [], notes.get(patch.hash), since));
  const landed = [...landedIn.values()].flat();
  const sessions = project === undefined ? [] : await readSessions(kernel, { project, root }, landed, hashes);
  const checks = sessions.flatMap(({ runs }) => runs).slice(-CHECKS);
  return {
    ...{ range, head: head ?? null, commits, checks },
    sessions: sessions.map(({ session }) => session),
    total: commits.reduce(plus, ZERO),
    secrets: await findSecrets(kernel, patches),
    rewritten: project === undefined ? 0 : await countRewritten(kernel, project, root, hashes),
    notesOnly: project === undefined,
  };
}

const plus = (a: LineCounts, b: LineCounts): LineCounts => ({
  assistant: a.assistant + b.assistant,
  mixed: a.mixed + b.mixed,
  person: a.person + b.person,
  unknown: a.unknown + b.unknown,
});

async function readCommit(
  { hash, author, at, authoredAt, subject, trailers, files }: CommitPatch,
  landed: readonly Landed[],
  note: string | undefined,
  since: number,
): Promise<VerifiedCommit> {
  const isCovered = Date.parse(authoredAt) >= since;
  const trailer = landed.length === 0 ? (readTrailers(trailers) ?? null) : null;
  const own = new Map(landed.map((one) => [`${one.path}\n${one.line}`, one]));
  const counted: VerifiedFile[] = [];
  for (const { path, added, addedAt } of files) {
    const counts = { ...ZERO };
    const noted = note === undefined ? [] : readGitAi(note, path);
    for (const line of addedAt) {
      const one = own.get(`${path}\n${line}`);
      if (one) counts[one.evidence === "part" ? "mixed" : "assistant"]++;
      else if (noted.some(({ from, to }) => from <= line && line <= to) || trailer) counts.assistant++;
      else counts[isCovered ? "person" : "unknown"]++;
      if (mustYield()) await yieldNow();
    }
    // Lines beyond the limit of one patch were not compared.
    counts.unknown += added - addedAt.length;
    counted.push({ path, ...counts });
  }
  return {
    ...{ hash, author, at, subject, files: counted, trailer, noted: note !== undefined },
    ...counted.reduce(plus, ZERO),
    sessions: [...new Set(landed.map(({ write }) => write.author.id))],
  };
}

interface SessionOfRange {
  session: VerifiedSession;
  runs: CheckRun[];
}

async function readSessions(
  kernel: Kernel,
  { project, root }: { project: string; root: string },
  landed: readonly Landed[],
  hashes: ReadonlySet<string>,
): Promise<SessionOfRange[]> {
  const rules = kernel.inject("rules");
  const accounts = await readAccounts(kernel, project, root);
  const shares = await groupBy(
    [...hashes].flatMap((hash) => accounts.sharesOf.get(hash) ?? []),
    ({ session }) => session,
  );
  const found: SessionOfRange[] = [];
  for (const [id, lines] of await groupBy(landed, ({ write }) => write.author.id)) {
    const isRead = found.length < READ;
    const runs = isRead ? await readChecks(kernel, id, (text) => rules.hide(text)) : [];
    const last = lines.reduce((most, { write }) => Math.max(most, write.seq), 0);
    const wrote = new Set(lines.map(({ write }) => write.seq));
    const title = lines[0]?.write.author.title ?? null;
    found.push({
      runs,
      session: {
        ...{ id, tool: lines[0]?.write.author.tool ?? "", lines: lines.length },
        title: title === null ? null : await rules.hide(title),
        ...costOf(accounts, shares.get(id) ?? [], id, wrote),
        reads: isRead ? await countReads(kernel, id, wrote) : 0,
        checks: {
          tests: outcomeOf(runs, "tests", last),
          types: outcomeOf(runs, "types", last),
          lint: outcomeOf(runs, "lint", last),
          build: outcomeOf(runs, "build", last),
        },
      },
    });
    if (mustYield()) await yieldNow();
  }
  return found.sort((a, b) => b.session.lines - a.session.lines || (a.session.id < b.session.id ? -1 : 1));
}

function costOf(
  { sessions, unpriced }: Accounts,
  shares: readonly { microdollars: number }[],
  id: string,
  wrote: ReadonlySet<number>,
): Pick<VerifiedSession, "models" | "prompts" | "microdollars"> {
  const asked = sessions.get(id)?.prompts ?? [];
  const prompts = new Set([...wrote].flatMap((call) => asked.findLast(({ seq }) => seq < call) ?? []));
  const models = [...new Set([...prompts].flatMap(({ model }) => model ?? []))].sort();
  return {
    models,
    prompts: prompts.size,
    microdollars: models.some((model) => unpriced.includes(model))
      ? null
      : shares.reduce((sum, one) => sum + one.microdollars, 0),
  };
}

/** Files read that led to these calls, from GET /sessions/:id/causality. */
async function countReads(kernel: Kernel, id: string, wrote: ReadonlySet<number>): Promise<number> {
  const response = await kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/causality`);
  if (!response.ok) return 0; // the plugin is not loaded, or the session's log is gone
  const paths = new Set<string>();
  for (const change of toList(toRecord(await response.json()).changes).map(toRecord)) {
    if (typeof change.seq !== "number" || !wrote.has(change.seq)) continue;
    for (const cause of toList(change.causes).map(toRecord)) paths.add(toText(cause.path) ?? "");
  }
  paths.delete("");
  return paths.size;
}

/** Secrets in added lines. A file's lines of one commit are scanned together: some rules need the lines around. */
async function findSecrets(kernel: Kernel, patches: readonly CommitPatch[]): Promise<PassedSecret[]> {
  const scanner = await kernel.inject("rules").scanner();
  const found: PassedSecret[] = [];
  for (const { hash, files } of patches)
    for (const { path, addedLines, addedAt } of files) {
      if (mustYield()) await yieldNow();
      const starts: number[] = [];
      let length = 0;
      for (const line of addedLines) {
        starts.push(length);
        length += line.length + 1;
      }
      for (const { rule, confidence, start, category } of scanner.scan(addedLines.join("\n")).findings) {
        if (category !== "secret") continue;
        const at = starts.findLastIndex((from) => from <= start);
        found.push({ commit: hash, path, line: addedAt[at] ?? 0, rule, confidence });
      }
    }
  return found;
}

async function countRewritten(
  kernel: Kernel,
  project: string,
  root: string,
  hashes: ReadonlySet<string>,
): Promise<number> {
  const { landed } = await landingFor(kernel, project, root);
  let count = 0;
  for (const { commit, fate } of landed) {
    if (mustYield()) await yieldNow();
    if (hashes.has(commit) && (fate === "rewritten" || fate === "reverted")) count++;
  }
  return count;
}
