/** Tool calls of a chat request. Their arguments and results stand apart from the place where the view shows them. */
import { isRecord, type Json, type JsonRecord, toItems, toJson, toRecord, toText } from "sessarc";
import { contentText, detailsText, toMarkdown } from "./text.ts";

/** Calls of one request among which heads of ids are looked for; real requests have some dozens. */
const MANY = 2000;

/** A call as the model made it. */
interface ModelCall {
  id: string;
  name: string;
  input: Json | undefined;
}

export interface Call {
  id: string | undefined;
  name: string;
  text: string;
  input: Json | undefined;
  result?: { text: string; isError: boolean } | undefined;
}

/** The model's rounds of a request in order: what it wrote, and the calls that it then made. */
export function toRounds(metadata: JsonRecord): { text: string; calls: ModelCall[] }[] {
  return toItems(metadata.toolCallRounds).map((round) => ({
    text: toMarkdown(toRecord(round).response).trim(),
    calls: toItems(toRecord(round).toolCalls).flatMap((call) => {
      const { id, name, arguments: input } = toRecord(call);
      return isRecord(call)
        ? [{ id: toText(id) ?? "", name: toText(name) ?? "tool", input: findArguments(input) }]
        : [];
    }),
  }));
}

/**
 * Which model call each shown call is: by id; by one id being the head of the other (VS Code adds a suffix); and by order
 * when no id of the request fits at all.
 */
export function matchCalls(shown: readonly JsonRecord[], calls: readonly ModelCall[]): (ModelCall | undefined)[] {
  const free = new Set(calls);
  const take = (call: ModelCall | undefined) => {
    if (call) free.delete(call);
    return call;
  };
  const ids = shown.map((item) => toText(item.toolCallId) ?? "");
  const byId = new Map(calls.map((call) => [call.id, call]));
  const matched = ids.map((id) => {
    const same = id === "" ? undefined : byId.get(id);
    return same && free.has(same) ? take(same) : undefined;
  });
  ids.forEach((id, n) => {
    if (free.size > MANY) return;
    matched[n] ??= take(id === "" ? undefined : [...free].find((call) => isHead(call.id, id) || isHead(id, call.id)));
  });
  return matched.some(Boolean) ? matched : shown.map((_, n) => calls[n]);
}

export function toCall(item: JsonRecord, call: ModelCall | undefined, metadata: JsonRecord): Call {
  const id = toText(item.toolCallId) ?? call?.id;
  const specific = toRecord(item.toolSpecificData);
  const details = toRecord(item.resultDetails);
  const exit = toRecord(specific.terminalCommandState).exitCode;
  const text = toResult([call?.id, id], metadata) || detailsText(item.resultDetails) || terminalText(specific);
  const isError = details.isError === true || (typeof exit === "number" && exit !== 0);
  return {
    id,
    name: toText(item.toolId) ?? call?.name ?? "tool",
    text: toMarkdown(item.pastTenseMessage) || toMarkdown(item.invocationMessage),
    input: call?.input ?? specificInput(specific) ?? findArguments(details.input),
    result: text !== "" || isError ? { text, isError } : undefined,
  };
}

/** A call the view did not keep. */
export function hiddenCall(call: ModelCall, metadata: JsonRecord): Call {
  const text = toResult([call.id], metadata);
  return { ...call, text: "", result: text === "" ? undefined : { text, isError: false } };
}

function toResult(ids: readonly (string | undefined)[], metadata: JsonRecord): string {
  const results = toRecord(metadata.toolCallResults);
  const keys = Object.keys(results).slice(0, MANY);
  for (const id of ids) {
    if (!id) continue;
    const key = Object.hasOwn(results, id) ? id : keys.find((one) => isHead(one, id) || isHead(id, one));
    const text = key === undefined ? "" : contentText(toRecord(results[key]).content);
    if (text !== "") return text;
  }
  return "";
}

/** What a terminal showed, as the view kept it: the whole, else its head and tail. */
function terminalText(specific: JsonRecord): string {
  const { terminalCommandOutput: output } = specific;
  return (toText(output) ?? toText(toRecord(output).text) ?? toText(specific.output) ?? "").replaceAll("\r\n", "\n");
}

function specificInput(specific: JsonRecord): Json | undefined {
  const line = toRecord(specific.commandLine);
  const command =
    toText(line.userEdited) ?? toText(line.toolEdited) ?? toText(line.original) ?? toText(specific.command);
  if (command !== undefined) return { command };
  return findArguments(specific.rawInput);
}

/** Arguments come as JSON text; some tools take raw text. */
function findArguments(value: unknown): Json | undefined {
  if (typeof value !== "string") return toJson(value);
  if (value === "") return undefined;
  try {
    return toJson(JSON.parse(value));
  } catch {
    return value;
  }
}

/** Short ids would be the head of anything. */
function isHead(short: string, long: string): boolean {
  return short.length >= 4 && long.length > short.length && long.startsWith(short);
}
