/** What services that sign people in have granted: tokens and our registration with them, sealed, each good for one address alone. */
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { RegistryStore } from "../registry/store.ts";
import type { Vault } from "../vault/seal.ts";

interface Grant {
  /** Of the service it is for. */
  url: string;
  client?: StoredOAuthClientInformation | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** Where its tokens come from. */
  discovery?: OAuthDiscoveryState | undefined;
}

export interface Grants {
  /** Empty where nothing is stored for this address. */
  read(service: string, url: string): Promise<Grant>;
  change(service: string, url: string, patch: Partial<Omit<Grant, "url">>): Promise<void>;
  forget(service: string): void;
  /** One after the other for each service: a refreshed token ends the one it was made of. */
  inOrder<T>(service: string, work: () => Promise<T>): Promise<T>;
}

export function createGrants(store: RegistryStore, vault: Vault): Grants {
  const known = new Map<string, Grant | undefined>();
  const last = new Map<string, Promise<unknown>>();
  const sealedAs = (service: string) => `grant ${service}`;

  async function load(service: string): Promise<Grant | undefined> {
    const row = await store.grant(service);
    return row && ((await vault.open(sealedAs(service), row.sealed)) as Grant);
  }

  const grants: Grants = {
    async read(service, url) {
      if (!known.has(service)) known.set(service, await load(service));
      const grant = known.get(service);
      return grant?.url === url ? grant : { url };
    },
    async change(service, url, patch) {
      const grant = { ...(await grants.read(service, url)), ...patch };
      known.set(service, grant);
      await store.putGrant(service, await vault.seal(sealedAs(service), grant));
    },
    forget: (service) => void known.delete(service),
    inOrder(service, work) {
      const done = (last.get(service) ?? Promise.resolve()).then(work, work);
      last.set(service, done);
      void done.catch(() => {}).then(() => last.get(service) === done && last.delete(service));
      return done;
    },
  };
  return grants;
}
