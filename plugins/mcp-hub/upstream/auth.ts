/** How connections of a service that people sign in to get their token. No type of the SDK, so that plugins that compile against this package need not install it. */
import type { ServiceEntry } from "../entry.ts";

interface TokenSource {
  token(): Promise<string | undefined>;
  /** The service refused the token. */
  onUnauthorized?(refusal: never): Promise<void>;
}

export type AuthFor = (entry: ServiceEntry, url: string) => TokenSource;
