/** What the model of a scenario says, and what it said: the script goes in, the ledger comes out. Neither knows a protocol. */

/** Tokens of one reply in kinds that do not overlap; `reasoning` is a part of `output`. */
export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}

/** A tool call. `input` is text for tools that take free text (Codex's `apply_patch` and `exec`). */
export interface Call {
  name: string;
  input: Record<string, unknown> | string;
  /** Of a tool that belongs to a group of tools (Codex: `collaboration`). */
  namespace?: string;
  /** Names of the calls that this one makes internally (Codex: of its script). */
  nested?: readonly string[];
}

export interface Reply {
  text?: string;
  thinking?: string;
  /** A function where the arguments depend on what the tool has answered before. */
  calls?: readonly Call[] | ((request: ModelRequest) => readonly Call[]);
  /** What is not said is made up, different for every reply. */
  tokens?: Partial<Tokens>;
  /** Headers of the answer: how much of a plan's limits is used. */
  headers?: Readonly<Record<string, string>>;
  /** Answered with this HTTP status instead. */
  error?: { status: number; message: string };
  /** The answer begins and never ends: for what is cancelled or killed. */
  hang?: boolean;
  /** Called when the request is there, before it is answered. */
  asked?: (request: ModelRequest) => void;
}

/**
 * Replies by lane, each lane in its order. A request belongs to the lane whose `[[name]]` is in its first prompt, else to
 * `main`; one that offers no tools (titles, summaries) to `side`. A lane that has nothing left says "done".
 */
export type Script = Readonly<Record<string, readonly Reply[]>>;

/** A request as any protocol means it. */
export interface ModelRequest {
  protocol: Protocol;
  model: string;
  stream: boolean;
  /** Names of the tools that are offered. */
  tools: readonly string[];
  /** All text that came with role user, in order. */
  prompts: readonly string[];
  body: Record<string, unknown>;
}

export type Protocol = "anthropic" | "responses" | "chat" | "gemini" | "augment";

/** One answered request. */
export interface Entry {
  id: string;
  protocol: Protocol;
  lane: string;
  model: string;
  tokens: Tokens;
  calls: readonly Call[];
  text: string;
  status: number;
  /** The whole answer was sent; false when the client went away before. */
  finished: boolean;
  prompts: readonly string[];
  tools: readonly string[];
}

/** A reply with all its figures and calls, ready for a protocol to write. */
export interface Answer {
  id: string;
  reply: Omit<Reply, "calls"> & { calls?: readonly Call[] };
  tokens: Tokens;
}

export const MAIN = "main";
export const SIDE = "side";

/** The lane of a request; see `Script`. */
export function toLane(request: ModelRequest, lanes: readonly string[]): string {
  const marked = lanes.find((lane) => request.prompts.some((prompt) => prompt.includes(`[[${lane}]]`)));
  return marked ?? (request.tools.length === 0 ? SIDE : MAIN);
}

/** Figures that tell the replies apart: no two replies of a run have the same. */
export function toTokens(reply: Reply, index: number): Tokens {
  if (reply.error) return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const reasoning = reply.thinking === undefined ? 0 : 11 + index;
  const made = {
    input: 401 + 17 * index,
    output: 53 + 3 * index,
    cacheRead: 601 + 31 * index,
    cacheWrite: 0,
    reasoning,
  };
  return { ...made, ...reply.tokens };
}
