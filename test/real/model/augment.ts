/** Augment's own protocol, as Auggie speaks it: a line of JSON for each part of an answer, which holds numbered kinds of nodes. */
import type { Answer, ModelRequest } from "./script.ts";
import { type Json, toArguments, toList, toNames, type Wire } from "./wire.ts";

export const augment: Wire = {
  matches: (path) => /\/chat-stream$/.test(path),
  hasLines: true,

  beside(path) {
    if (!/\/get-models$/.test(path)) return undefined;
    const model = { name: "bench-model", suggested_prefix_char_count: 8000, suggested_suffix_char_count: 8000 };
    const user = { id: "bench", email: "bench@example.org" };
    return { default_model: model.name, models: [model], feature_flags: {}, languages: [], user };
  },

  read: (body) => ({
    protocol: "augment",
    model: String(body.model || "bench-model"),
    stream: true,
    tools: toNames(body.tool_definitions, ({ name }) => name),
    prompts: [...toList(body.chat_history).flatMap((one) => toTexts(one.request_nodes)), ...toTexts(body.nodes)],
    body,
  }),

  whole: (request, answer) => [...parts(request, answer)].at(-1) ?? {},

  *stream(request, answer) {
    for (const data of parts(request, answer)) yield { data };
  },

  failure: ({ message }) => ({ error: message }),
};

const toTexts = (nodes: unknown): string[] =>
  toList(nodes).flatMap(({ text_node: node }) => toList([node]).map(({ content }) => String(content)));

function* parts(_: ModelRequest, { id, reply, tokens }: Answer): Generator<Json> {
  const { thinking, text, calls = [] } = reply;
  if (thinking !== undefined)
    yield { text: "", nodes: [{ id: 0, type: 8, content: "", thinking: { summary: thinking } }] };
  if (text !== undefined) yield { text };
  const called = calls.map((call, index) => ({
    id: index + 1,
    type: 5,
    content: "",
    tool_use: { tool_use_id: `toolu_${id}${index}`, tool_name: call.name, input_json: toArguments(call.input) },
  }));
  const usage = {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation_input_tokens: tokens.cacheWrite,
  };
  const spent = { id: called.length + 1, type: 10, content: "", token_usage: usage };
  yield { text: "", nodes: [...called, spent], stop_reason: called.length > 0 ? 3 : 1 };
}
