/** The Gemini API of Google. */
import type { Answer } from "./script.ts";
import { isRecord, type Json, toList, type Wire } from "./wire.ts";

const PATH = /\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;

export const gemini: Wire = {
  matches: (path) => PATH.test(path),

  read(body, path) {
    const [, model = "", method] = PATH.exec(path) ?? [];
    const declared = toList(body.tools).flatMap((tool) => toList(tool.functionDeclarations));
    return {
      protocol: "gemini",
      model,
      stream: method === "streamGenerateContent",
      tools: declared.map((tool) => String(tool.name)),
      prompts: toList(body.contents).flatMap(({ role, parts }) =>
        role === "user" ? toList(parts).flatMap((part) => (typeof part.text === "string" ? part.text : [])) : [],
      ),
      body,
    };
  },

  whole: (request, answer) => chunk(request.model, answer, toParts(answer), true),

  *stream(request, answer) {
    const parts = toParts(answer);
    for (const [index, part] of parts.entries()) {
      yield { data: chunk(request.model, answer, [part], index === parts.length - 1) };
    }
  },

  failure: ({ status, message }) => ({
    error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL" },
  }),
};

function chunk(modelVersion: string, answer: Answer, parts: readonly Json[], last: boolean): Json {
  const candidate = { index: 0, content: { role: "model", parts }, ...(last && { finishReason: "STOP" }) };
  return { responseId: answer.id, modelVersion, candidates: [candidate], usageMetadata: usage(answer) };
}

/** Cached tokens are a part of the prompt; thoughts are beside the candidates. */
function usage({ tokens }: Answer): Json {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: tokens.cacheRead,
    candidatesTokenCount: tokens.output - tokens.reasoning,
    thoughtsTokenCount: tokens.reasoning,
    totalTokenCount: prompt + tokens.output,
  };
}

function toParts({ id, reply }: Answer): Json[] {
  const parts: Json[] = [];
  if (reply.thinking !== undefined) parts.push({ text: reply.thinking, thought: true });
  if (reply.text !== undefined) parts.push({ text: reply.text });
  for (const [index, { name, input }] of (reply.calls ?? []).entries()) {
    const args = isRecord(input) ? input : {};
    parts.push({ functionCall: { id: `${id}${index}`, name, args }, thoughtSignature: "c2ln" });
  }
  return parts.length > 0 ? parts : [{ text: "" }];
}
