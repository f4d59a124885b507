/** The SDK's view of a grant. Requests to the authorization server carry none of the service's headers. */
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import type { ServiceEntry } from "../entry.ts";
import { limitedFetch } from "../upstream/fetch.ts";
import type { Grants } from "./grants.ts";

/** One sign-in, from its beginning until the browser is back. */
export interface Flow {
  redirectUrl: string;
  state: string;
  /** Where the person has to go; set by the SDK. */
  address?: URL;
  verifier?: string;
}

/** `flow` is undefined where no person can sign in: then tokens are only refreshed. */
export function toProvider(grants: Grants, entry: ServiceEntry, url: string, flow?: Flow): OAuthClientProvider {
  const read = () => grants.read(entry.id, url);
  const { credential } = entry;
  const registered = credential?.kind === "oauth" && credential.name !== "" ? credential : undefined;
  return {
    redirectUrl: flow?.redirectUrl ?? "http://127.0.0.1/",
    clientMetadata: {
      client_name: "sessarc",
      redirect_uris: flow ? [flow.redirectUrl] : [],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => flow?.state ?? "",
    async clientInformation() {
      if (registered) {
        const secret = registered.value === "" ? {} : { client_secret: registered.value };
        return { client_id: registered.name, ...secret };
      }
      const { client } = await read();
      const uris = client && "redirect_uris" in client ? client.redirect_uris : undefined;
      // Registered while we were at another port.
      return flow && uris && !uris.includes(flow.redirectUrl) ? undefined : client;
    },
    saveClientInformation: (client) => grants.change(entry.id, url, { client }),
    tokens: async () => (await read()).tokens,
    saveTokens: (tokens) => grants.change(entry.id, url, { tokens }),
    discoveryState: async () => (await read()).discovery,
    saveDiscoveryState: (discovery) => grants.change(entry.id, url, { discovery }),
    redirectToAuthorization(address) {
      if (flow) flow.address = address;
    },
    saveCodeVerifier(verifier) {
      if (flow) flow.verifier = verifier;
    },
    codeVerifier: () => flow?.verifier ?? "",
    async invalidateCredentials(scope) {
      if (scope === "all")
        await grants.change(entry.id, url, { client: undefined, tokens: undefined, discovery: undefined });
      else if (scope === "client" || scope === "tokens" || scope === "discovery")
        await grants.change(entry.id, url, { [scope]: undefined });
    },
  };
}

/** For the connections of a service: its token, refreshed when it is refused. */
export function toAuth(grants: Grants, entry: ServiceEntry, url: string): AuthProvider {
  const tokens = async () => (await grants.read(entry.id, url)).tokens;
  let sent: string | undefined;
  return {
    async token() {
      sent = (await tokens())?.access_token;
      return sent;
    },
    onUnauthorized: ({ response }) =>
      grants.inOrder(entry.id, async () => {
        const now = await tokens();
        // Another connection was refused before, and has got a new one.
        if (now && now.access_token !== sent) return;
        const { auth, extractWWWAuthenticateParams, UnauthorizedError } = await import("@modelcontextprotocol/client");
        if (!now?.refresh_token) throw new UnauthorizedError();
        const options = { serverUrl: url, ...extractWWWAuthenticateParams(response), fetchFn: limitedFetch };
        const result = await auth(toProvider(grants, entry, url), options);
        if (result !== "AUTHORIZED") throw new UnauthorizedError();
      }),
  };
}
