/** One route on the app: decode, validate, run, answer. */
import type { H3Event } from "h3";
import type { Kernel } from "../contract/kernel.ts";
import type { AnyRoute, RouteContext } from "../contract/route.ts";
import { type Schema, validate } from "../contract/schema.ts";
import { SessarcError } from "../errors/error.ts";
import { DEFAULT_BODY, readBytes, readJson } from "./body.ts";

/** The h3 handler of a route. It always answers or throws; HEAD runs the handler of GET. */
export function toHandler(route: AnyRoute, kernel: Kernel): (event: H3Event) => Promise<Answer> {
  const { restName } = routerPath(route.path);
  return async (event) => {
    const { _: rest = "", ...named } = decodeParams(event.context.params ?? {});
    const params = restName === undefined ? named : { ...named, [restName]: rest };
    const ctx: RouteContext = {
      event,
      kernel,
      params: route.params ? await validate(route.params, params, "params") : params,
      query: route.query ? await validate(route.query, readQuery(event.url.searchParams), "query") : undefined,
      body: isRead(event.req.method) ? undefined : await readBody(route, event),
      get signal() {
        return toSignal(event, kernel);
      },
    };
    return toAnswer(await route.handler(ctx), route.status ?? 200);
  };
}

/**
 * A path as the router takes it, and what its rest is called. A named rest (`/**:rest`) is mounted as `/**`: the router wants
 * at least one segment for a name, and a page at `/` has none.
 */
export function routerPath(path: string): { path: string; restName: string | undefined } {
  const match = /\/\*\*(?::(\w+))?$/.exec(path);
  return match
    ? { path: `${path.slice(0, match.index)}/**`, restName: match[1] ?? "_" }
    : { path, restName: undefined };
}

const isRead = (method: string) => method === "GET" || method === "HEAD";

/** h3 leaves params as the URL has them. */
function decodeParams(raw: Readonly<Record<string, string>>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) params[name] = decodeParam(value);
  return params;
}

function decodeParam(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (cause) {
    throw new SessarcError("INVALID_INPUT", { reason: "The path is not valid UTF-8" }, { cause });
  }
}

/** A name given more than once is a list. */
function readQuery(search: URLSearchParams): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of search) {
    const before = query[name];
    query[name] = before === undefined ? value : [before, value].flat();
  }
  return { ...query };
}

/** The body is read and checked on every write; a handler gets it when the route has a schema for it. */
async function readBody(route: AnyRoute, event: H3Event): Promise<unknown> {
  const { bytes = DEFAULT_BODY, type } = route.limits ?? {};
  if (type !== undefined) checkType(event.req, type);
  const body = await (type === undefined ? readJson : readBytes)(event.req, bytes);
  return route.body ? validateBody(route.body, body) : undefined;
}

function checkType({ headers }: Request, type: string): void {
  const given = headers.get("content-type") ?? "";
  if (given !== type) throw new SessarcError("NOT_JSON", { type: given });
}

/** No body at all is tried as `{}`, so that what is missing is named field by field. */
async function validateBody(schema: Schema, body: unknown): Promise<unknown> {
  if (body !== undefined) return validate(schema, body, "body");
  const absent = await schema["~standard"].validate(undefined);
  return absent.issues ? validate(schema, {}, "body") : absent.value;
}

/** Aborts when the client disconnects or the kernel closes, whichever is first. */
function toSignal(event: H3Event, kernel: Kernel): AbortSignal {
  const known = signals.get(event);
  if (known) return known;
  const controller = new AbortController();
  event.req.signal.addEventListener("abort", () => controller.abort(), { once: true });
  if (event.req.signal.aborted || kernel.closing.aborted) controller.abort();
  else abortWith(kernel, controller);
  signals.set(event, controller.signal);
  return controller.signal;
}
const signals = new WeakMap<H3Event, AbortSignal>();

/** One listener a kernel, however many requests ask: requests of this process have no end that would take theirs away. */
function abortWith({ closing }: Kernel, controller: AbortController): void {
  let open = controllers.get(closing);
  if (!open) {
    const all = new Set<WeakRef<AbortController>>();
    open = { all, collected: new FinalizationRegistry((ref) => void all.delete(ref)) };
    controllers.set(closing, open);
    closing.addEventListener("abort", () => all.forEach((ref) => void ref.deref()?.abort()), { once: true });
  }
  const ref = new WeakRef(controller);
  open.all.add(ref);
  open.collected.register(controller, ref);
  alive.set(controller.signal, controller); // as long as the signal is referenced
}
interface Open {
  all: Set<WeakRef<AbortController>>;
  collected: FinalizationRegistry<WeakRef<AbortController>>;
}
const controllers = new WeakMap<AbortSignal, Open>();
const alive = new WeakMap<AbortSignal, AbortController>();

/** A JSON answer before it is sent. Not a Response yet: its body is a stream, which costs more than most answers. */
export class JsonAnswer {
  readonly text: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(value: unknown, status: number, headers?: Readonly<Record<string, string>>) {
    this.text = JSON.stringify(value);
    this.status = status;
    this.headers = {
      "content-type": "application/json; charset=utf-8",
      // Without it the answer is sent in chunks, and HEAD does not report the size.
      "content-length": String(Buffer.byteLength(this.text)),
      ...headers,
    };
  }
}

export type Answer = Response | JsonAnswer;

/** JSON-plain data as JSON, undefined as an empty 204, a Response as it is. */
export function toAnswer(value: unknown, status: number): Answer {
  if (value instanceof JsonAnswer || value instanceof Response) return value;
  if (value === undefined) return new Response(null, { status: 204 });
  return new JsonAnswer(value, status);
}
