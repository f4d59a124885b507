/** The Chat Completions API of OpenAI, as OpenCode and Copilot speak it. */
import type { Answer, ModelRequest } from "./script.ts";
import { isRecord, type Json, toArguments, toList, toNames, type Wire } from "./wire.ts";

export const chat: Wire = {
  matches: (path) => /\/chat\/completions$/.test(path),

  read: (body) => ({
    protocol: "chat",
    model: String(body.model),
    stream: body.stream === true,
    tools: toNames(body.tools, (tool) => (isRecord(tool.function) ? tool.function.name : undefined)),
    prompts: toList(body.messages).flatMap(({ role, content }) => {
      if (role !== "user") return [];
      return typeof content === "string"
        ? [content]
        : toList(content)
            .flatMap((part) => part.text ?? [])
            .map(String);
    }),
    body,
  }),

  whole(request, answer) {
    const message = {
      role: "assistant",
      content: answer.reply.text ?? null,
      ...thinking(answer),
      tool_calls: calls(answer),
    };
    const choices = [{ index: 0, message, finish_reason: reason(answer) }];
    return { ...head(request, answer, "chat.completion"), choices, usage: usage(answer) };
  },

  *stream(request, answer) {
    const chunk = (delta: Json, finish: string | null = null) => ({
      data: {
        ...head(request, answer, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    });
    yield chunk({ role: "assistant", content: "" });
    if (answer.reply.thinking !== undefined) yield chunk(thinking(answer));
    if (answer.reply.text !== undefined) yield chunk({ content: answer.reply.text });
    for (const call of calls(answer) ?? []) yield chunk({ tool_calls: [call] });
    yield chunk({}, reason(answer));
    yield { data: { ...head(request, answer, "chat.completion.chunk"), choices: [], usage: usage(answer) } };
    yield { data: "[DONE]" };
  },

  failure: ({ message }) => ({ error: { message, type: "server_error", code: null } }),
};

function head({ model }: ModelRequest, { id }: Answer, object: string): Json {
  return { id: `chatcmpl-${id}`, object, created: 1_760_000_000, model };
}

const reason = ({ reply }: Answer) => (reply.calls?.length ? "tool_calls" : "stop");

const thinking = ({ reply }: Answer): Json =>
  reply.thinking === undefined ? {} : { reasoning_content: reply.thinking };

function calls({ id, reply }: Answer): Json[] | undefined {
  return reply.calls?.map((call, index) => {
    const called = { name: call.name, arguments: toArguments(call.input) };
    return { index, id: `call_${id}${index}`, type: "function", function: called };
  });
}

/** Cached tokens are a part of the prompt, reasoning is a part of the completion. */
function usage({ tokens }: Answer): Json {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: tokens.output,
    total_tokens: prompt + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cacheRead },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}
