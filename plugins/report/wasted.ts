/** What was wasted in some days, and which sessions ended unfinished. The figures are those of the services "health" and "causality". */
import type { Kernel, Services } from "sessarc";

/** Tokens that led to nothing, by how. A call may count in more than one way: the rows are not added up. */
export interface ReportWasted {
  /** Reads that led to no change, failed calls that were repeated unchanged, all calls that failed. */
  kind: "reads" | "retries" | "failures";
  /** Reads or calls. */
  count: number;
  sessions: number;
  /** Estimated from the length of the text. */
  tokens: number;
  /** What the tokens cost when sent once, at the input price of each session's main model; null where no model has a price. */
  microdollars: number | null;
  /** The sessions with the most tokens, each with the message that shows it best. `title` is null unless prompts were asked for. */
  examples: { session: string; seq: number; title: string | null; count: number; tokens: number }[];
}
/** A session that ended without an answer, or with a failing command. */
export interface ReportUnfinished {
  id: string;
  tool: string;
  project: string;
  endedAt: string | null;
  /** `unread`: a failed call was the last message; `unanswered`: no answer followed; `failedLast`: its last command failed. */
  ending: "unread" | "unanswered" | "failedLast";
  seq: number;
  /** Session and command; null unless prompts were asked for. */
  title: string | null;
  command: string | null;
}
/** ms: sessions that ended at or after, and began before. */
export interface TimeSpan {
  since: number;
  until: number;
}
type Session = Awaited<ReturnType<Services["archive"]["session"]>>;
type SessionWaste = Awaited<ReturnType<Services["health"]["retries"]>>[number];

const EXAMPLES = 3;

export const titleOf = ({ name, title, firstPrompt, id }: Session): string => name ?? title ?? firstPrompt ?? id;

/** Of the sessions `ids`. Rows without anything are left out. `failed`: failed calls as the service "insights" counts them, each call once. */
export async function wastedIn(
  kernel: Kernel,
  ids: readonly string[],
  { failed, prompts }: { failed: number; prompts: boolean },
): Promise<ReportWasted[]> {
  const health = kernel.inject("health");
  const [reads, retries, failures] = await Promise.all([
    kernel.inject("causality").wasted(ids),
    health.retries({ ids }),
    health.failures({ ids }),
  ]);
  const ways: [ReportWasted["kind"], readonly SessionWaste[]][] = [
    ["reads", reads.map(({ reads: count, ...rest }) => ({ count, ...rest }))],
    ["retries", retries],
    ["failures", failures],
  ];
  const wasting = [...new Set(ways.flatMap(([, list]) => list.map(({ session }) => session)))];
  const sessions = await byId(kernel, wasting);
  return ways
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => ({
      kind,
      count: kind === "failures" ? failed : list.reduce((sum, { count }) => sum + count, 0),
      sessions: list.length,
      tokens: list.reduce((sum, { tokens }) => sum + tokens, 0),
      microdollars: inputCost(kernel, list, sessions),
      examples: list.slice(0, EXAMPLES).map(({ session, seq, count, tokens }) => {
        const found = prompts ? sessions.get(session) : undefined;
        return { session, seq, title: found ? titleOf(found) : null, count, tokens };
      }),
    }));
}

export async function unfinishedIn(kernel: Kernel, span: TimeSpan, prompts: boolean): Promise<ReportUnfinished[]> {
  const archive = kernel.inject("archive");
  const [endings, live] = await Promise.all([kernel.inject("health").endings(span), archive.liveIds()]);
  const sessions = await byId(
    kernel,
    endings.map(({ session }) => session),
  );
  return endings.flatMap(({ session: id, kind, seq, subject }): ReportUnfinished[] => {
    const session = sessions.get(id);
    if (!session || live.includes(id) || session.links.some((link) => link.kind === "continued-in")) return [];
    return [
      {
        id,
        tool: session.tool,
        project: session.projectId,
        endedAt: session.endedAt,
        ending: kind,
        seq,
        title: prompts ? titleOf(session) : null,
        command: prompts && subject !== "" ? subject : null,
      },
    ];
  });
}

async function byId(kernel: Kernel, ids: readonly string[]): Promise<Map<string, Session>> {
  const list = ids.length === 0 ? [] : await kernel.inject("archive").list({ ids });
  return new Map(list.map((session) => [session.id, session]));
}

/** In millionths of a dollar: the tokens sent once to each session's main model; null where no model has a price. */
function inputCost(
  kernel: Kernel,
  list: readonly SessionWaste[],
  sessions: ReadonlyMap<string, Session>,
): number | null {
  const tokens = new Map<string, number>();
  for (const one of list) {
    const model = mainModel(sessions.get(one.session));
    if (model !== undefined) tokens.set(model, (tokens.get(model) ?? 0) + one.tokens);
  }
  const usage = Object.fromEntries([...tokens].map(([model, input]) => [model, { ...NO_TOKENS, input }]));
  const { microdollars, unpriced } = kernel.inject("insights").pricing.now.cost(usage);
  return unpriced.length < tokens.size ? microdollars : null;
}

const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };

/** The model that was sent the most. */
function mainModel(session: Session | undefined): string | undefined {
  const sent = Object.entries(session?.usage ?? {}).map(
    ([model, { input, cacheRead, cacheWrite5m, cacheWrite1h }]) =>
      [model, input + cacheRead + cacheWrite5m + cacheWrite1h] as const,
  );
  return sent.sort(([, a], [, b]) => b - a)[0]?.[0];
}
