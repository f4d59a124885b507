/** Rows of a Claude Code log: a question, a reply that calls a tool on a file, and the tool's result. */

/** Minute `n` of one morning. */
export const minute = (n: number): string => new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString();

interface TurnOptions {
  tool?: "Read" | "Edit";
  failed?: boolean;
  /** Added to the ids of the records, as a fork writes other ones. */
  copy?: string;
}

/** Every second turn's call fails unless `failed` says otherwise. */
export const claudeTurn = (
  n: number,
  { tool = "Read", failed = n % 2 === 1, copy = "" }: TurnOptions = {},
): [object, object, object] => [
  {
    type: "user",
    uuid: `u${n}${copy}`,
    timestamp: minute(n),
    cwd: "/w/app",
    message: { role: "user", content: `word${n}` },
  },
  {
    type: "assistant",
    uuid: `a${n}${copy}`,
    timestamp: minute(n),
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "tool_use", id: `t${n}`, name: tool, input: { file_path: `/w/app/${n}.ts` } }],
      usage: { input_tokens: 10, output_tokens: n },
    },
  },
  {
    type: "user",
    uuid: `x${n}${copy}`,
    timestamp: minute(n),
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `t${n}`, content: "no", is_error: failed }],
    },
  },
];
