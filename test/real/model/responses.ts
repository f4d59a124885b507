/** The Responses API of OpenAI, as Codex speaks it. */
import type { Answer, ModelRequest } from "./script.ts";
import { type Json, toArguments, toList, toNames, type Wire } from "./wire.ts";

export const responses: Wire = {
  matches: (path) => /\/responses$/.test(path),

  read: (body) => ({
    protocol: "responses",
    model: String(body.model),
    stream: body.stream === true,
    tools: toNames(offered(body), (tool) => tool.name),
    prompts: toPrompts(body.input),
    body,
  }),

  whole: (request, answer) => ({
    ...head(request, answer, "completed"),
    output: items(request, answer),
    usage: usage(answer),
  }),

  *stream(request, answer) {
    let sequence = 0;
    const event = (type: string, data: Json) => ({ event: type, data: { type, sequence_number: sequence++, ...data } });
    yield event("response.created", { response: { ...head(request, answer, "in_progress"), output: [] } });
    const output = items(request, answer);
    for (const [index, item] of output.entries()) {
      yield event("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress" } });
      if (item.type === "message") {
        const place = { item_id: item.id, output_index: index, content_index: 0 };
        yield event("response.output_text.delta", { ...place, delta: answer.reply.text });
      }
      yield event("response.output_item.done", { output_index: index, item });
    }
    const response = { ...head(request, answer, "completed"), output, usage: usage(answer) };
    yield event("response.completed", { response });
  },

  failure: ({ message }) => ({ error: { message, type: "server_error", code: null } }),
};

function head({ model }: ModelRequest, { id }: Answer, status: string): Json {
  return { id: `resp_${id}`, object: "response", created_at: 1_760_000_000, status, model };
}

/** Cached tokens are a part of the input, reasoning is a part of the output. */
function usage({ tokens }: Answer): Json {
  const input = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: tokens.cacheRead },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: input + tokens.output,
  };
}

function items(request: ModelRequest, { id, reply }: Answer): Json[] {
  const output: Json[] = [];
  if (reply.thinking !== undefined) {
    const summary = [{ type: "summary_text", text: reply.thinking }];
    output.push({ type: "reasoning", id: `rs_${id}`, summary, encrypted_content: "c2VhbGVk" });
  }
  if (reply.text !== undefined) {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    output.push({ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content });
  }
  const free = new Set(offered(request.body).flatMap((tool) => (tool.type === "custom" ? [tool.name] : [])));
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const { name, input, namespace } = call;
    const about = { name, call_id: `call_${id}${index}`, status: "completed", ...(namespace && { namespace }) };
    if (name === "tool_search") {
      const search = { type: "tool_search_call", id: `tsc_${id}${index}`, call_id: about.call_id, execution: "client" };
      output.push({ ...search, status: "completed", arguments: input });
    } else if (free.has(name))
      output.push({ type: "custom_tool_call", id: `ctc_${id}${index}`, ...about, input: toArguments(input) });
    else output.push({ type: "function_call", id: `fc_${id}${index}`, ...about, arguments: toArguments(input) });
  }
  return output;
}

/** Tools are in the body or in an item of the input, alone or in groups. */
function offered({ tools, input }: Json): Json[] {
  const given = [...toList(tools), ...toList(input).flatMap((item) => toList(item.tools))];
  return given.flatMap((tool) => (tool.type === "namespace" ? toList(tool.tools) : [tool]));
}

function toPrompts(input: unknown): string[] {
  if (typeof input === "string") return [input];
  return toList(input).flatMap((item) => {
    if (item.role !== "user" && item.type !== "agent_message") return [];
    if (typeof item.content === "string") return [item.content];
    return toList(item.content).flatMap((part) => (typeof part.text === "string" ? part.text : []));
  });
}
