/** The Messages API of Anthropic. */
import type { Answer, ModelRequest } from "./script.ts";
import { isRecord, type Json, toList, toNames, type Wire } from "./wire.ts";

export const anthropic: Wire = {
  matches: (path) => /\/messages$/.test(path),

  read: (body) => ({
    protocol: "anthropic",
    model: String(body.model),
    stream: body.stream === true,
    tools: toNames(body.tools, (tool) => tool.name),
    prompts: toList(body.messages).flatMap((message) => (message.role === "user" ? toTexts(message.content) : [])),
    body,
  }),

  whole: (request, answer) => ({
    ...head(request, answer),
    content: blocks(answer),
    ...end(answer),
    usage: usage(answer),
  }),

  *stream(request, answer) {
    const started = { ...usage(answer), output_tokens: 1 };
    yield event({ type: "message_start", message: { ...head(request, answer), content: [], usage: started } });
    for (const [index, block] of blocks(answer).entries()) {
      const { empty, deltas } = toPieces(block);
      yield event({ type: "content_block_start", index, content_block: empty });
      for (const delta of deltas) yield event({ type: "content_block_delta", index, delta });
      yield event({ type: "content_block_stop", index });
    }
    yield event({ type: "message_delta", delta: end(answer), usage: { output_tokens: answer.tokens.output } });
    yield event({ type: "message_stop" });
  },

  failure: ({ status, message }) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "api_error", message },
  }),
};

const event = (data: Json & { type: string }) => ({ event: data.type, data });

function head({ model }: ModelRequest, { id }: Answer) {
  return { id: `msg_${id}`, type: "message", role: "assistant", model, stop_reason: null, stop_sequence: null };
}

const end = ({ reply }: Answer) => ({
  stop_reason: reply.calls?.length ? "tool_use" : "end_turn",
  stop_sequence: null,
});

function usage({ tokens }: Answer) {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: tokens.cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: tokens.output,
    service_tier: "standard",
  };
}

function blocks({ id, reply }: Answer): Json[] {
  const content: Json[] = [];
  if (reply.thinking !== undefined) content.push({ type: "thinking", thinking: reply.thinking, signature: "c2ln" });
  if (reply.text !== undefined) content.push({ type: "text", text: reply.text });
  for (const [index, call] of (reply.calls ?? []).entries()) {
    content.push({ type: "tool_use", id: `toolu_${id}${index}`, name: call.name, input: call.input });
  }
  return content;
}

function toPieces(block: Json): { empty: Json; deltas: Json[] } {
  if (block.type === "thinking") {
    const { thinking, signature } = block;
    const deltas = [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ];
    return { empty: { ...block, thinking: "", signature: "" }, deltas };
  }
  if (block.type === "text")
    return { empty: { ...block, text: "" }, deltas: [{ type: "text_delta", text: block.text }] };
  const json = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  return { empty: { ...block, input: {} }, deltas: [json] };
}

function toTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return toList(content).flatMap((block) => (isRecord(block) && typeof block.text === "string" ? block.text : []));
}
