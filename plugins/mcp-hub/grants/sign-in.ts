/** Signing in to a service: the user opens an address, and returns to the hub's callback with a code. */
import { randomBytes } from "node:crypto";
import { type Kernel, SessarcError } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import type { Registry } from "../registry/registry.ts";
import { limitedFetch } from "../upstream/fetch.ts";
import { toMessage } from "../upstream/rpc-error.ts";
import { toAddress } from "../upstream/transport.ts";
import { hideValues, toSecrets } from "../vault/mask.ts";
import type { SignIn } from "./contract.ts";
import type { Grants } from "./grants.ts";
import { type Flow, toProvider } from "./provider.ts";

export const CALLBACK = "/oauth/callback";

const PATIENCE_MS = 10 * 60_000;
const MOST_FLOWS = 50;
const PROBE_MS = 15_000;

interface Pending extends Flow {
  entry: ServiceEntry;
  serverUrl: string;
  at: number;
}

export function createSignIn(kernel: Kernel, registry: Registry, grants: Grants): SignIn {
  const pending = new Map<string, Pending>();

  function forgetOld(): void {
    const limit = performance.now() - PATIENCE_MS;
    for (const [state, { at }] of pending) if (at < limit || pending.size >= MOST_FLOWS) pending.delete(state);
  }

  return {
    async begin(service) {
      const entry = await registry.get(service);
      const { id, transport, credential } = entry;
      const unavailable = (reason: string) => new SessarcError("SIGN_IN_UNAVAILABLE", { id, reason });
      if (transport === "stdio" || entry.url === null) throw unavailable("it is not reached over HTTP");
      if (credential !== null && credential.kind !== "oauth")
        throw unavailable("it has another credential; remove that first");
      if (!kernel.address) throw unavailable("the browser needs a running service to come back to: sessarc serve");
      forgetOld();
      const address = toAddress(entry, kernel.env.env);
      if (address.username || address.password) throw unavailable("its address names a user");
      const serverUrl = address.href;
      const redirectUrl = new URL(CALLBACK, kernel.address.url).href;
      const flow: Pending = {
        entry,
        serverUrl,
        redirectUrl,
        state: randomBytes(24).toString("base64url"),
        at: performance.now(),
      };
      try {
        const { auth } = await import("@modelcontextprotocol/client");
        // What is known of where its tokens come from may be out of date.
        await grants.change(id, serverUrl, { discovery: undefined });
        const options = {
          serverUrl,
          ...(await readChallenge(serverUrl)),
          fetchFn: limitedFetch,
          forceReauthorization: true,
        };
        await auth(toProvider(grants, entry, serverUrl, flow), options);
      } catch (error) {
        throw new SessarcError("SIGN_IN_FAILED", { id, reason: toReason(entry, error) }, { cause: error });
      }
      if (!flow.address || !/^https?:$/.test(flow.address.protocol))
        throw new SessarcError("SIGN_IN_FAILED", { id, reason: "it names no page to sign in at" });
      pending.set(flow.state, flow);
      return { url: flow.address.href };
    },

    async finish({ state, code, iss, error }) {
      const flow = pending.get(state);
      pending.delete(state);
      if (!flow || flow.at < performance.now() - PATIENCE_MS)
        throw new SessarcError("SIGN_IN_FAILED", { id: "", reason: "no sign-in was started, or it took too long" });
      const { entry, serverUrl } = flow;
      const failed = (reason: string, cause?: unknown) =>
        new SessarcError("SIGN_IN_FAILED", { id: entry.id, reason }, { cause });
      if (error !== undefined || code === undefined) throw failed("it was refused there");
      try {
        const { auth } = await import("@modelcontextprotocol/client");
        const options = {
          serverUrl,
          authorizationCode: code,
          ...(iss === undefined ? {} : { iss }),
          fetchFn: limitedFetch,
        };
        await grants.inOrder(entry.id, () => auth(toProvider(grants, entry, serverUrl, flow), options));
      } catch (cause) {
        throw failed(toReason(entry, cause), cause);
      }
      const credential = entry.credential ?? { kind: "oauth" as const, name: "", value: "" };
      // Its connections are reopened with the token.
      return registry.update(entry.id, { credential });
    },
  };
}

const toReason = (entry: ServiceEntry, error: unknown) => hideValues(toMessage(error), toSecrets(entry));

/** What a service says of where to sign in when it is asked without a token. */
async function readChallenge(serverUrl: string) {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const response = await limitedFetch(serverUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
    signal: AbortSignal.timeout(PROBE_MS),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}), ...(scope === undefined ? {} : { scope }) };
}
