/** Clients of revision 2026-07-28: every request is independent, and what services ask is part of an answer. */
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { isRecord, type JsonRecord, toList, toRecord, toText, VERSION } from "sessarc";
import { type Hub, toRpcError } from "../hub/hub.ts";
import type { Subscriber } from "../hub/subscribers.ts";
import { toKey, type View } from "../hub/view.ts";
import { passOn } from "../pass-on.ts";
import { SKILLS } from "../skills/uris.ts";
import type { Caller } from "../upstream/pool.ts";
import { INSTRUCTIONS, METHODS, SKILL_METHODS, toCapabilities } from "./description.ts";
import { isEvents, relayed } from "./stream.ts";

interface ModernEndpoint {
  handle(request: Request, body: unknown, view: View): Promise<Response>;
  close(): Promise<void>;
}

const META = "io.modelcontextprotocol/";
const MOST_SUBSCRIPTIONS = 1_000;
/** A client that only listens cannot be asked anything. */
const LISTENER: Caller = { session: "modern", protocol: "modern", capabilities: {}, tell: () => {} };
/** Views that are open at most; each has its own streams of changes. */
const MOST_VIEWS = 64;

interface Wanted {
  service: string;
  /** As the service has it, and as the client called it. */
  uri: string;
  address: string;
}

interface Served {
  handler: McpHttpHandler;
  /** What its clients want to know about, one for each stream of changes. */
  wanted: Set<Wanted>;
  detach(): void;
}

export function createModernEndpoint(hub: Hub): ModernEndpoint {
  const served = new Map<string, Promise<Served>>();

  async function open(view: View): Promise<Served> {
    const { createMcpHandler, Server } = await import("@modelcontextprotocol/server");
    const instructions = view.service === null ? { instructions: INSTRUCTIONS } : {};
    const handler = createMcpHandler(
      ({ requestInfo }) => {
        const server = new Server(
          { name: "sessarc", version: VERSION },
          { capabilities: toCapabilities(view), jsonSchemaValidator: passOn, ...instructions },
        );
        // The header is what the body says, or the request was refused. Without a handler the SDK answers as the protocol has it.
        const method = requestInfo?.headers.get("mcp-method") ?? "";
        if (!METHODS.has(method) && !(view.skills && SKILL_METHODS.has(method))) return server;
        server.fallbackRequestHandler = async ({ method, params, id }, { mcpReq }) => {
          const envelope = toRecord(mcpReq.envelope);
          const capabilities = pickAskable(toRecord(envelope[`${META}clientCapabilities`]));
          const asClient = named(view, envelope);
          const caller: Caller = {
            session: `modern ${asClient.context.client ?? ""}`,
            protocol: "modern",
            capabilities,
            skills: view.skills,
            tell(kind, told) {
              if (kind === "notifications/message" && envelope[`${META}logLevel`] === undefined) return;
              // Its stream is over: so is what it wanted to know.
              void mcpReq.notify({ method: kind, params: told }).catch(() => {});
            },
          };
          const state = mcpReq.requestState();
          const { inputResponses } = mcpReq;
          const isAnswer = typeof state === "string" || inputResponses !== undefined;
          const input = isAnswer
            ? { state: typeof state === "string" ? state : undefined, responses: toRecord(inputResponses) }
            : undefined;
          const request = { caller, method, params: toRecord(params), signal: mcpReq.signal, input, envelope };
          try {
            return await hub.ask(asClient, request, id);
          } catch (error) {
            throw toRpcError(error);
          }
        };
        return server;
      },
      { legacy: "reject" },
    );
    const wanted: Served["wanted"] = new Set();
    const attached: Subscriber = {
      session: undefined,
      view: () => view,
      hears: () => false,
      caller: LISTENER,
      wanted: (service) => [...wanted].flatMap((it) => (it.service === service ? [it.uri] : [])),
      wants: (service, uri) => [
        ...new Set([...wanted].flatMap((it) => (it.service === service && it.uri === uri ? [it.address] : []))),
      ],
      notify(method, params) {
        if (method === "notifications/tools/list_changed") handler.notify.toolsChanged();
        else if (method === "notifications/prompts/list_changed") handler.notify.promptsChanged();
        else if (method === "notifications/resources/list_changed") handler.notify.resourcesChanged();
        else if (method === "notifications/resources/updated") handler.notify.resourceUpdated(String(params.uri));
      },
    };
    return { handler, wanted, detach: hub.subscribers.add(attached) };
  }

  function serve(view: View): Promise<Served> {
    const key = toKey(view);
    const known = served.get(key);
    if (known) return known;
    const opening = open(view);
    served.set(key, opening);
    opening.catch(() => served.delete(key));
    const [oldest] = served.keys();
    if (served.size > MOST_VIEWS && oldest !== undefined) {
      void served.get(oldest)?.then(end);
      served.delete(oldest);
    }
    return opening;
  }

  async function end({ handler, detach }: Served): Promise<void> {
    detach();
    await handler.close();
  }

  /** A stream of changes names addresses; the services have to be asked for them. Answers what ends that. */
  async function subscribe(view: View, { wanted }: Served, body: unknown, signal: AbortSignal): Promise<() => void> {
    const params = toRecord(toRecord(body).params);
    const filter = toRecord(params.notifications ?? params.filter);
    const mine: Wanted[] = [];
    for (const uri of toList(filter.resourceSubscriptions).slice(0, MOST_SUBSCRIPTIONS)) {
      const handled: { service: string | null; uri?: string } = { service: null };
      // An address that no service has: the stream is served all the same, without a word about it.
      await hub
        .ask(
          view,
          { caller: { ...LISTENER, skills: view.skills }, method: "resources/subscribe", params: { uri }, signal },
          null,
          handled,
        )
        .catch(() => undefined);
      if (handled.service === null || handled.uri === undefined) continue;
      const it = { service: handled.service, uri: handled.uri, address: String(uri) };
      mine.push(it);
      wanted.add(it);
    }
    return () => {
      for (const it of mine) wanted.delete(it);
      for (const { service, uri } of mine) void hub.release(service, uri);
    };
  }

  return {
    async handle(request, body, asked) {
      const view = { ...asked, skills: asked.skills || declaresSkills(body) };
      const it = await serve(view);
      const listens = isRecord(body) && body.method === "subscriptions/listen";
      const ended = listens ? await subscribe(view, it, body, request.signal) : undefined;
      const response = await it.handler.fetch(request, { parsedBody: body });
      return ended || isEvents(response) ? relayed(response, ended ? { ended } : {}) : response;
    },
    async close() {
      const all = [...served.values()];
      served.clear();
      await Promise.all(all.map(async (it) => end(await it)));
    },
  };
}

/** Each request has the capabilities of its client. */
function declaresSkills(body: unknown): boolean {
  const meta = toRecord(toRecord(toRecord(body).params)._meta);
  return isRecord(toRecord(toRecord(meta[`${META}clientCapabilities`]).extensions)[SKILLS]);
}

function pickAskable(capabilities: JsonRecord): JsonRecord {
  const names = ["sampling", "elicitation", "roots"].filter((name) => capabilities[name]);
  return Object.fromEntries(names.map((name) => [name, capabilities[name]]));
}

function named(view: View, envelope: JsonRecord): View {
  if (view.context.client !== null) return view;
  const name = toText(toRecord(envelope[`${META}clientInfo`]).name);
  return name === undefined ? view : { ...view, context: { ...view.context, client: name } };
}
