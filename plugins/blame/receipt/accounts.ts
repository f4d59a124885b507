/** A project's sessions and commits joined, computed once until one of them changes. */
import { type Cache, createCache, type Kernel, mustYield, type Services, yieldNow } from "sessarc";
import { readPrompts } from "../indexer/rows.ts";
import { named, readProject } from "../place.ts";
import { groupBy } from "./group.ts";
import { type Landed, type LandedCommit, type Landing, readLanding } from "./landing.ts";
import { readShares, type Share, type Work } from "./shares.ts";

interface AccountedSession {
  id: string;
  tool: string;
  title: string | null;
  microdollars: number;
  prompts: Work["prompts"];
}

export interface Accounts {
  /** Oldest first; those that HEAD has not come last. */
  commits: LandedCommit[];
  /** Lines by the hash of the commit that took them. */
  landed: ReadonlyMap<string, Landed[]>;
  shares: Share[];
  /** Shares of commits, by hash. */
  sharesOf: ReadonlyMap<string | null, Share[]>;
  sessions: Map<string, AccountedSession>;
  /** Lines that calls wrote and no commit took, by session and seq of the call. */
  uncommitted: { session: string; seq: number; lines: number }[];
  /** Of GET /usage of the project. */
  total: number;
  /** What rounding each session on its own makes of the difference to `total`. */
  rounding: number;
  unpriced: string[];
  branches: { name: string; hash: string }[];
}

const KEEP = 4;
const cached = new WeakMap<Kernel, Cache<Accounts>>();
const landings = new WeakMap<Kernel, Cache<Landing>>();

export async function readAccounts(kernel: Kernel, project: string, root: string): Promise<Accounts> {
  const tips = await kernel.inject("git").tips(root);
  const { stamp } = kernel.inject("pricing");
  return once(cached, kernel, [project, kernel.inject("archive").generation, stamp, tips], () =>
    compute(kernel, project, root, tips),
  );
}

/** The accounts of a project by id, name or path. Throws PROJECT_NOT_FOUND and NO_REPOSITORY, which name the project as it was asked for. */
export async function openAccounts(
  kernel: Kernel,
  wanted: string,
): Promise<{ project: string; root: string; accounts: Accounts }> {
  const { project, root } = await readProject(kernel, wanted);
  try {
    return { project, root, accounts: await readAccounts(kernel, project, root) };
  } catch (error) {
    throw named(error, wanted);
  }
}

/**
 * What sessions wrote into the commits up to `tip`, without other branches: a line that was squashed or cherry-picked counts here, although
 * the branch it comes from is still there, and a line that was put back counts in both commits. Cached as `landingFor`.
 */
export async function landingUpTo(
  kernel: Kernel,
  project: string,
  root: string,
  tip: string | undefined,
): Promise<Landing> {
  const landing = await landingAt(kernel, project, root, { head: tip, branches: [] });
  const again = landing.landed.flatMap((one) => (one.again ?? []).map((place) => ({ ...one, ...place })));
  return again.length === 0 ? landing : { ...landing, landed: [...landing.landed, ...again] };
}

/** Which lines of the project's sessions got into which commits, cached until a session, HEAD or a branch changes. */
export async function landingFor(kernel: Kernel, project: string, root: string): Promise<Landing> {
  return landingAt(kernel, project, root, await kernel.inject("git").tips(root));
}

type Tips = Awaited<ReturnType<Services["git"]["tips"]>>;

const landingAt = (kernel: Kernel, project: string, root: string, tips: Tips): Promise<Landing> =>
  once(landings, kernel, [project, kernel.inject("archive").generation, tips], () =>
    readLanding(kernel, project, root, tips),
  );

/** The cached answer for these values, else the one that `make` computes. */
function once<T>(
  caches: WeakMap<Kernel, Cache<T>>,
  kernel: Kernel,
  values: readonly unknown[],
  make: () => Promise<T>,
): Promise<T> {
  const known = caches.get(kernel) ?? createCache<T>(KEEP);
  caches.set(kernel, known);
  return known.get(JSON.stringify(values), make);
}

async function compute(kernel: Kernel, project: string, root: string, tips: Tips): Promise<Accounts> {
  const insights = kernel.inject("insights");
  const [landing, spending, { cost }, rows] = await Promise.all([
    landingAt(kernel, project, root, tips),
    insights.spending(project),
    insights.totals({ projects: [project] }),
    kernel.storage.db.all<{
      id: string;
      tool: string;
      title: string | null;
      started: string | null;
      prompts: string | null;
    }>(
      `select s.id, s.tool, substr(coalesce(s.name, s.title, s.first_prompt), 1, 160) as title, s.started_at as started, b.prompts
       from session s left join blame_session b on b.session = s.id where s.project_id = ?`,
      [project],
    ),
  ]);
  const spent = new Map(spending.map((one) => [one.session, one]));
  const landedOf = await groupBy(landing.landed, ({ write }) => write.author.id);
  const writesOf = await groupBy(landing.writes, ({ author }) => author.id);
  const works: Work[] = [];
  const sessions = new Map<string, AccountedSession>();
  for (const { id, tool, title, started, prompts: text } of rows) {
    if (mustYield()) await yieldNow();
    const prompts = readPrompts(text ?? "[]");
    const money = spent.get(id);
    sessions.set(id, { id, tool, title, microdollars: money?.microdollars ?? 0, prompts });
    works.push({
      spending: money ?? { session: id, parent: null, quarters: [], microdollars: 0 },
      started: Date.parse(started ?? ""),
      prompts,
      landed: landedOf.get(id) ?? [],
      wrote: (writesOf.get(id) ?? []).map(({ seq }) => seq),
    });
  }
  const shares = await readShares(works);
  const taken = new Map<string, number>();
  for (const { write } of landing.landed) {
    const call = `${write.author.id} ${write.seq}`;
    taken.set(call, (taken.get(call) ?? 0) + 1);
    if (mustYield()) await yieldNow();
  }
  const uncommitted: Accounts["uncommitted"] = [];
  for (const { author, seq, lines, whole } of landing.writes) {
    if (mustYield()) await yieldNow();
    // A call that wrote the whole file repeats lines that were there before.
    if (whole) continue;
    const left = lines.filter((key) => key !== 0).length - (taken.get(`${author.id} ${seq}`) ?? 0);
    if (left > 0) uncommitted.push({ session: author.id, seq, lines: left });
  }
  return {
    commits: landing.commits,
    landed: await groupBy(landing.landed, ({ commit }) => commit),
    shares,
    sharesOf: await groupBy(shares, ({ commit }) => commit),
    sessions,
    uncommitted,
    total: cost.microdollars,
    rounding: cost.microdollars - shares.reduce((sum, { microdollars }) => sum + microdollars, 0),
    unpriced: cost.unpriced,
    branches: tips.branches,
  };
}
