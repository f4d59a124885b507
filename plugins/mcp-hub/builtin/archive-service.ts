/** The archive as a service of the hub: tools, sessions as resources, and a prompt to go on where one was. */
import { type JsonRecord, type Kernel, toNumber, toRecord, toText } from "sessarc";
import type { LocalService } from "../hub/catalog.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../upstream/rpc-error.ts";
import { clip, createPage } from "./budget.ts";
import { type Answer, createSource, type Source } from "./source.ts";
import { type Args, messageText, TOOLS } from "./tools.ts";

const TOKENS = 4_000;
const MOST_TOKENS = 20_000;
const SESSION = "sessarc://session/";
const RECENT = "sessarc://sessions/recent";

const items = {
  tools: TOOLS.map(({ name, title, description, properties, required = [] }): JsonRecord => {
    const max_tokens = {
      type: "integer",
      description: "Longest answer, in tokens",
      default: TOKENS,
      maximum: MOST_TOKENS,
    };
    return {
      name,
      title,
      description,
      inputSchema: { type: "object", properties: { ...properties, max_tokens }, required },
      annotations: { readOnlyHint: true, openWorldHint: false },
    };
  }).sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
  prompts: [
    {
      name: "continue",
      title: "Continue where I was",
      description: "What was done last in a project, and what was left open",
      arguments: [{ name: "project", description: "Id, name or path of a project", required: true }],
    },
  ],
  resources: [{ uri: RECENT, name: "recent", title: "The newest sessions", mimeType: "text/plain" }],
  resourceTemplates: [
    { uriTemplate: `${SESSION}{id}`, name: "session", title: "A session's transcript", mimeType: "text/plain" },
  ],
};

/** The list of tools is answered by then. */
const WARM_AFTER_MS = 200;

export function createArchiveService(kernel: Kernel): LocalService {
  async function callTool(params: JsonRecord, source: Source): Promise<JsonRecord> {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(params.name)}`);
    const args = toArgs(toRecord(params.arguments));
    for (const name of tool.required ?? [])
      if (args.text(name) === undefined) return failed(`${tool.name} needs ${name}`);
    try {
      return said(await source.clean(await tool.run(args, source)));
    } catch (error) {
      // The model can do something about it: another id, another query.
      if (error instanceof RpcError) return failed(error.message);
      throw error;
    }
  }

  async function read(uri: string, source: Source): Promise<JsonRecord> {
    const text =
      uri === RECENT
        ? await TOOLS.find(({ name }) => name === "search_sessions")?.run(toArgs({ limit: 30 }), source)
        : await transcript(uri, source);
    return { contents: [{ uri, mimeType: "text/plain", text: await source.clean(text ?? "") }] };
  }

  return {
    warmUp() {
      setTimeout(() => {
        if (kernel.closing.aborted) return;
        const failed = (error: unknown) => kernel.notify("listener:failed", error, { hook: "mcp" });
        (kernel.find("recall") ?? kernel.inject("rules")).warmUp().catch(failed);
      }, WARM_AFTER_MS).unref();
    },
    listing: () => ({ items, instructions: "Searches and reads the archive of this machine's coding sessions." }),
    async request(method, params, signal) {
      const source = createSource(kernel, signal);
      switch (method) {
        case "tools/call":
          return callTool(params, source);
        case "resources/read":
          return read(String(params.uri), source);
        case "resources/subscribe":
        case "resources/unsubscribe":
          return {};
        case "prompts/get":
          return continueProject(toText(toRecord(params.arguments).project) ?? "", source);
        case "completion/complete":
          return { completion: { values: [], total: 0, hasMore: false } };
        default:
          throw new RpcError(METHOD_NOT_FOUND, "Method not found");
      }
    },
  };
}

const said = (text: string): JsonRecord => ({ content: [{ type: "text", text }] });
const failed = (text: string): JsonRecord => ({ ...said(text), isError: true });

/** Models send numbers as text and text as numbers. */
function toArgs(given: JsonRecord): Args {
  const number = (name: string, otherwise: number, most: number) => {
    const value = toNumber(given[name]) ?? Number(toText(given[name]) ?? Number.NaN);
    return Number.isFinite(value) ? Math.max(1, Math.min(most, Math.floor(value))) : otherwise;
  };
  return {
    number,
    text: (name) => (typeof given[name] === "number" ? String(given[name]) : toText(given[name])),
    tokens: Math.max(200, number("max_tokens", TOKENS, MOST_TOKENS)),
  };
}

type Messages = Answer<"GET /sessions/:id/messages">;

async function transcript(uri: string, source: Source): Promise<string> {
  const id = uri.startsWith(SESSION) ? decodeURIComponent(uri.slice(SESSION.length)) : "";
  const path = `/sessions/${encodeURIComponent(id)}/messages`;
  const { messages } = await source.get<Messages>(path, { limit: 1_000, cut: 2_000 });
  const page = createPage(MOST_TOKENS);
  for (const message of messages) if (!page.add(messageText(id, message, source, 2_000))) break;
  return page.text();
}

async function continueProject(project: string, source: Source): Promise<JsonRecord> {
  const { results } = await source.get<Answer<"GET /search">>("/search", {
    q: "kind:user",
    project,
    limit: 1,
  });
  const [newest] = results;
  if (!newest) throw new RpcError(INVALID_PARAMS, `No sessions of ${project} are archived`);
  const { id } = newest.session;
  const { messages } = await source.get<Messages>(`/sessions/${encodeURIComponent(id)}/messages`, { cut: 4_000 });
  const prompts = messages.filter(({ kind }) => kind === "user").slice(-5);
  const last = messages.findLast(({ kind }) => kind === "assistant");
  const lines = [
    `Go on with the work in ${newest.project.name}${newest.project.path ? ` (${newest.project.path})` : ""}.`,
    `The last session there is ${id}, ${source.link(id)}. Its last prompts:`,
    ...prompts.map((message) => clip(messageText(id, message, source, 1_500), 2_000)),
    ...(last ? ["Its last answer:", messageText(id, last, source, 3_000)] : []),
    "Summarize in a few sentences what is done and what is open, then ask how to go on. The archive has more: get_messages, why_changed.",
  ];
  const text = await source.clean(lines.join("\n\n"));
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}
