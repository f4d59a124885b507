/**
 * A server that offers the tools, prompts and resources the protocol's conformance suite asks for. Over stdio, and with the argument
 * `http` over a port, in both eras; with `sse` in the older era over its older transport. With a port, it prints its address.
 * What it answers is what the suite's descriptions of its scenarios say.
 */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const text = (value) => ({ type: "text", text: value });
const says = (value) => ({ content: [text(value)] });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, value) => ({ type: "resource", resource: { uri, mimeType, text: value } });

const form = (message, properties, required = Object.keys(properties)) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const sample = (prompt, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(prompt) }], maxTokens },
});
const roots = { method: "roots/list", params: {} };
const needs = (inputRequests, requestState) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState === undefined ? {} : { requestState }),
});

/** State that comes back is checked: it went through other hands. */
const KEY = randomBytes(32);
const sign = (value) => createHmac("sha256", KEY).update(value).digest("base64url");
const seal = (value) => `${value}.${sign(value)}`;
function unseal(state) {
  const [value = "", mark = ""] = String(state).split(".");
  const expected = sign(value);
  if (mark.length === expected.length && timingSafeEqual(Buffer.from(mark), Buffer.from(expected))) return value;
  throw new ProtocolError(-32602, "The request state was changed");
}

/** The content of an answer to a form; undefined for anything else. */
const filled = (answers, key, field) => {
  const answer = answers?.[key];
  return answer?.action === "accept" && answer.content?.[field] !== undefined ? answer.content[field] : undefined;
};

const ask = (ctx, { method, params }) => ctx.mcpReq.send({ method, params });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const option = (value, title) => ({ const: value, title });

const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const TOOLS = {
  test_simple_text: () => says("This is a simple text response for testing."),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
  test_multiple_content_types: () => ({
    content: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    ...says("This tool intentionally returns an error for testing"),
    isError: true,
  }),
  json_schema_2020_12_tool: (_, args) => says(JSON.stringify(args)),

  async test_tool_with_logging(ctx) {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
      await pause();
    }
    return says("Tool with logging executed successfully");
  },
  async test_logging_tool(ctx) {
    await ctx.mcpReq.log("info", "for those who asked for it");
    return says("logged");
  },
  async test_tool_with_progress(ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params });
      await pause();
    }
    return says("done");
  },
  async test_sampling(ctx, { prompt }) {
    const { content } = await ask(ctx, sample(prompt, 100));
    return says(`LLM response: ${content.text}`);
  },
  async test_elicitation(ctx, { message }) {
    const { action, content } = await ask(ctx, form(message, { response: { type: "string", description: "Answer" } }));
    return says(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
  },
  async test_elicitation_sep1034_defaults(ctx) {
    const properties = {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    };
    const { action, content } = await ask(ctx, form("Please review", properties, []));
    return says(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  },
  async test_elicitation_sep1330_enums(ctx) {
    const plain = ["option1", "option2", "option3"];
    const titled = [option("value1", "First"), option("value2", "Second"), option("value3", "Third")];
    const properties = {
      untitledSingle: { type: "string", enum: plain },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: plain } },
      titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled } },
    };
    const { action, content } = await ask(ctx, form("Please select", properties, []));
    return says(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  },

  test_missing_capability: () => needs({ thought: sample("A word?", 10) }),
  test_streaming_elicitation: () => needs({ name: form("What is your name?", { name: { type: "string" } }) }),
  test_input_required_result_elicitation(ctx) {
    const name = filled(ctx.mcpReq.inputResponses, "user_name", "name");
    if (typeof name === "string") return says(`Hello, ${name}!`);
    return needs({ user_name: form("What is your name?", { name: { type: "string" } }) });
  },
  test_input_required_result_sampling(ctx) {
    const answer = ctx.mcpReq.inputResponses?.capital_question;
    if (answer) return says(`It is ${answer.content?.text}`);
    return needs({ capital_question: sample("What is the capital of France?", 100) });
  },
  test_input_required_result_list_roots(ctx) {
    const answer = ctx.mcpReq.inputResponses?.client_roots;
    return answer ? says(JSON.stringify(answer.roots)) : needs({ client_roots: roots });
  },
  test_input_required_result_request_state(ctx) {
    const ok = filled(ctx.mcpReq.inputResponses, "confirm", "ok");
    if (ok !== undefined && unseal(ctx.mcpReq.requestState()) === "confirm") return says("state-ok");
    return needs({ confirm: form("Please confirm", { ok: { type: "boolean" } }) }, seal("confirm"));
  },
  test_input_required_result_tampered_state(ctx) {
    const state = ctx.mcpReq.requestState();
    if (state !== undefined && unseal(state) === "sealed") return says("unchanged");
    return needs({ confirm: form("Please confirm", { ok: { type: "boolean" } }) }, seal("sealed"));
  },
  test_input_required_result_multiple_inputs(ctx) {
    const answers = ctx.mcpReq.inputResponses;
    if (answers?.user_name && answers.greeting && answers.client_roots)
      return says(`${unseal(ctx.mcpReq.requestState())}: ${JSON.stringify(answers)}`);
    const user_name = form("What is your name?", { name: { type: "string" } });
    return needs({ user_name, greeting: sample("Generate a greeting", 50), client_roots: roots }, seal("all"));
  },
  test_input_required_result_multi_round(ctx) {
    const state = ctx.mcpReq.requestState();
    const round = state === undefined ? "" : unseal(state);
    const answers = ctx.mcpReq.inputResponses;
    if (round === "two" && filled(answers, "step2", "color")) return says("Both are known");
    if (round === "one" && filled(answers, "step1", "name"))
      return needs({ step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }) }, seal("two"));
    return needs({ step1: form("Step 1: What is your name?", { name: { type: "string" } }) }, seal("one"));
  },
  test_input_required_result_capabilities(ctx) {
    const able = ctx.mcpReq.envelope?.[CAPABILITIES] ?? {};
    const questions = {};
    if (able.elicitation) questions.name = form("What is your name?", { name: { type: "string" } });
    if (able.sampling) questions.thought = sample("A word?", 10);
    return Object.keys(questions).length > 0 ? needs(questions) : says("Nobody to ask");
  },
};

const SCHEMAS = {
  json_schema_2020_12_tool: SCHEMA_2020_12,
  test_sampling: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
  test_elicitation: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
};

const user = (...content) => ({ messages: content.map((part) => ({ role: "user", content: part })) });
const PROMPTS = {
  test_simple_prompt: { get: () => user(text("This is a simple prompt for testing.")) },
  test_prompt_with_arguments: {
    arguments: ["arg1", "arg2"],
    get: (_, { arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    arguments: ["resourceUri"],
    get: (_, { resourceUri }) =>
      user(resource(resourceUri, "text/plain", "Embedded resource content for testing."), text("Please process it.")),
  },
  test_prompt_with_image: { get: () => user(image, text("Please analyze the image above.")) },
  test_input_required_result_prompt: {
    get(ctx) {
      const context = filled(ctx.mcpReq.inputResponses, "user_context", "context");
      if (context !== undefined) return user(text(`In the context of ${context}`));
      return needs({ user_context: form("What context should the prompt use?", { context: { type: "string" } }) });
    },
  },
};

const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched resource content" },
};
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

function read(uri) {
  const known = RESOURCES[uri];
  if (known) return { contents: [{ uri, ...known }] };
  const id = TEMPLATE.exec(uri)?.[1];
  if (id === undefined) throw new ProtocolError(-32602, "Resource not found", { uri });
  const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { contents: [{ uri, mimeType: "application/json", text: data }] };
}

/**
 * Runs `get` for a client of the older era: what it needs is asked at once, and `get` runs again with the answers. Rejects as the newer
 * era does where the client cannot be asked.
 */
async function askingInline(server, ctx, get) {
  const able = server.getClientCapabilities() ?? {};
  const mcpReq = { ...ctx.mcpReq, envelope: { [CAPABILITIES]: able } };
  let result = await get({ ...ctx, mcpReq });
  while (result.resultType === "input_required") {
    const asked = Object.entries(result.inputRequests);
    const missing = asked.map(([, { method }]) => method.split("/")[0]).filter((name) => !able[name]);
    if (missing.length > 0) {
      const requiredCapabilities = Object.fromEntries(missing.map((name) => [name, {}]));
      throw new ProtocolError(-32021, "The client lacks a capability", { requiredCapabilities });
    }
    const answers = asked.map(async ([key, request]) => [key, await ask(ctx, request)]);
    const inputResponses = Object.fromEntries(await Promise.all(answers));
    const { requestState } = result;
    result = await get({ ...ctx, mcpReq: { ...mcpReq, inputResponses, requestState: () => requestState } });
  }
  return result;
}

/** `changed` reports a changed list of `tools` or `prompts` where the server's own connection does not reach the clients. */
function createServer(era, changed) {
  const listChanged = { listChanged: true };
  const server = new Server(
    { name: "conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: listChanged,
        prompts: listChanged,
        resources: { subscribe: true, ...listChanged },
        logging: {},
        completions: {},
      },
    },
  );
  const answering = (ctx, get) => (era === "legacy" ? askingInline(server, ctx, get) : get(ctx));
  const handlers = {
    "tools/list": () => ({
      tools: [...Object.keys(TOOLS), "test_trigger_tool_change", "test_trigger_prompt_change"].map((name) => ({
        name,
        description: `Of the conformance suite: ${name}`,
        inputSchema: SCHEMAS[name] ?? { type: "object", properties: {} },
      })),
    }),
    async "tools/call"({ name, arguments: args = {} }, ctx) {
      if (name === "test_trigger_tool_change" || name === "test_trigger_prompt_change") {
        const kind = name === "test_trigger_tool_change" ? "tools" : "prompts";
        if (changed) changed(kind);
        else await server.notification({ method: `notifications/${kind}/list_changed` });
        return says("changed");
      }
      if (!Object.hasOwn(TOOLS, name)) throw new ProtocolError(-32602, `Unknown tool: ${name}`);
      return answering(ctx, (known) => TOOLS[name](known, args));
    },
    "prompts/list": () => ({
      prompts: Object.entries(PROMPTS).map(([name, { arguments: names = [] }]) => ({
        name,
        description: `Of the conformance suite: ${name}`,
        arguments: names.map((argument) => ({ name: argument, required: true })),
      })),
    }),
    "prompts/get"({ name, arguments: args = {} }, ctx) {
      if (!Object.hasOwn(PROMPTS, name)) throw new ProtocolError(-32602, `Unknown prompt: ${name}`);
      return answering(ctx, (known) => PROMPTS[name].get(known, args));
    },
    "resources/list": () => ({
      resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
    }),
    "resources/templates/list": () => ({
      resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
    }),
    "resources/read": ({ uri }) => read(uri),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    "logging/setLevel": () => ({}),
    "completion/complete": () => ({ completion: { values: [], total: 0, hasMore: false } }),
  };
  for (const [method, handle] of Object.entries(handlers))
    server.setRequestHandler(method, (request, ctx) => handle(request.params ?? {}, ctx));
  return server;
}

/** Both eras: a session for each client of the older one, a server for each request of the newer one. */
function overHttp() {
  const modern = createMcpHandler(() => createServer("modern", (kind) => modern.notify[`${kind}Changed`]()), {
    legacy: "reject",
  });
  const sessions = new Map();
  const startSession = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createServer("legacy").connect(transport);
    return transport;
  };
  return async (request) => {
    const refusal =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refusal) return refusal;
    if (!(await isLegacyRequest(request))) return modern.fetch(request);
    const id = request.headers.get("mcp-session-id");
    if (id !== null && !sessions.has(id)) return new Response(null, { status: 404 });
    return (sessions.get(id) ?? (await startSession())).handleRequest(request);
  };
}

/** A handler of `Request` for a Node server. */
const asListener = (handle) => async (incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const ending = new AbortController();
  outgoing.on("close", () => ending.abort());
  const body = method === "POST" ? { body: Readable.toWeb(incoming), duplex: "half" } : {};
  const response = await handle(
    new Request(new URL(url, `http://${headers.host}`), { method, headers, signal: ending.signal, ...body }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (!response.body) return outgoing.end();
  // A client that leaves ends both.
  await pipeline(Readable.fromWeb(response.body), outgoing).catch(() => outgoing.destroy());
};

/** The older era over its older way: a stream of events, and messages posted beside it. */
function overSse() {
  const open = new Map();
  return async (request, response) => {
    const { searchParams } = new URL(request.url, "http://127.0.0.1");
    if (request.method === "POST") {
      const transport = open.get(searchParams.get("sessionId"));
      if (transport) await transport.handlePostMessage(request, response);
      else response.writeHead(404).end();
    } else if (request.headers.accept?.includes("text/event-stream")) {
      const transport = new SSEServerTransport("/messages", response);
      open.set(transport.sessionId, transport);
      response.on("close", () => open.delete(transport.sessionId));
      await createServer("legacy").connect(transport);
    } else response.writeHead(405).end();
  };
}

const [way = "stdio"] = process.argv.slice(2);
if (way === "stdio") serveStdio(({ era }) => createServer(era));
else {
  const server = createHttpServer(way === "sse" ? overSse() : asListener(overHttp()));
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/${way}`));
}
