/** Homes with very many very small logs, and what they add up to. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./_service.mjs";

const MODELS = ["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"];
const WORDS = "parser token column branch merge cache route table widget handler".split(" ");
const START = Date.UTC(2026, 0, 1);

const uuid = (n) => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

/** Makers of a log each: its path below the home, its rows, and the messages and tokens in them. */
const kinds = {
  "claude-code": (n, folders) => {
    const cwd = `/w/project-${n % folders}`;
    const at = (row) => new Date(START + n * 60_000 + row * 1_000).toISOString();
    const row = (type, i, message, extra) => ({
      type,
      uuid: `${n}-${i}`,
      timestamp: at(i),
      cwd,
      sessionId: uuid(n),
      ...extra,
      message,
    });
    const rows = [
      row("user", 0, { role: "user", content: `please look at the ${WORDS[n % WORDS.length]} number${n}` }),
    ];
    let output = 0;
    for (let i = 1; i < 2 + (n % 4); i++) {
      const tokens = 10 + ((n * 7 + i) % 90);
      output += tokens;
      const usage = { input_tokens: 20, output_tokens: tokens };
      const content = [{ type: "text", text: `the ${WORDS[(n + i) % WORDS.length]} is done` }];
      const message = { id: `m${n}-${i}`, role: "assistant", model: MODELS[n % 3], content, usage };
      rows.push(row("assistant", i, message, { requestId: `r${n}-${i}` }));
    }
    const path = `.claude/projects/-w-project-${n % folders}/${uuid(n)}.jsonl`;
    return { path, rows, messages: rows.length, output, input: 20 * (rows.length - 1) };
  },
  codex: (n, folders) => {
    const cwd = `/w/project-${n % folders}`;
    const began = new Date(START + (n % 100) * 86_400_000 + n * 10);
    const timestamp = began.toISOString();
    const row = (type, payload) => ({ timestamp, type, payload });
    const output = 10 + ((n * 7) % 90);
    const total = { input_tokens: 20, cached_input_tokens: 0, output_tokens: output, total_tokens: 20 + output };
    const rows = [
      row("session_meta", { id: uuid(n), timestamp, cwd, originator: "codex_cli_rs", cli_version: "0.50.0" }),
      row("turn_context", { cwd, model: "gpt-5-codex" }),
      row("response_item", {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: `please look at the ${WORDS[n % WORDS.length]} number${n}` }],
      }),
      row("response_item", {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: `the ${WORDS[(n + 1) % WORDS.length]} is done` }],
      }),
      row("event_msg", { type: "token_count", info: { total_token_usage: total, last_token_usage: total } }),
    ];
    const [day, time] = [timestamp.slice(0, 10), timestamp.slice(11, 19).replaceAll(":", "-")];
    const path = `.codex/sessions/${day.replaceAll("-", "/")}/rollout-${day}T${time}-${uuid(n)}.jsonl`;
    return { path, rows, messages: 2, output, input: 20 };
  },
};

/**
 * Makes a home of `count` logs of `tool` in `folders` projects. `empty`: they hold nothing; `foreign`: beside them lie as many files that are no logs.
 * Answers the home and the sums.
 */
export function makeTiny({ name, tool = "claude-code", count, folders = 50, empty = false, foreign = 0 }) {
  const home = scratch(name);
  const made = new Set();
  const write = (path, text) => {
    const at = join(home, path);
    const dir = at.slice(0, at.lastIndexOf("/"));
    if (!made.has(dir)) {
      mkdirSync(dir, { recursive: true });
      made.add(dir);
    }
    writeFileSync(at, text);
  };
  const sums = { sessions: 0, messages: 0, input: 0, output: 0 };
  for (let n = 0; n < count; n++) {
    const { path, rows, messages, input, output } = kinds[tool](n, folders);
    const text = empty ? "" : `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
    write(path, text);
    if (empty) continue;
    sums.sessions++;
    sums.messages += messages;
    sums.input += input;
    sums.output += output;
  }
  const beside = kinds[tool](0, folders).path.replace(/[^/]+$/, "");
  for (let n = 0; n < foreign; n++) write(`${beside}note-${n}.txt`, "not a log\n");
  return { home, sums };
}
