/** Token mode (`--auth`): who may call. */

/** What a scoped token opens: the routes that installed hooks ask, or the tool-protocol endpoint. Installed hooks and clients carry them. */
type Scope = "guard" | "mcp";

export interface Access {
  /** True when requests need a token. */
  readonly required: boolean;
  /** The token of this start, for everything. Undefined when none is required. */
  readonly token: string | undefined;
  /** The same after every restart, because other programs' settings contain it. Undefined when no token is required. */
  scoped(scope: Scope): string | undefined;
  /** Whether these credentials open this route. */
  allows(request: { method: string; path: string; authorization: string | null; cookie: string | null }): boolean;
  /** Uses up the one-time ticket of `/auth/<ticket>`: answers the cookie to set, or undefined when it is not (or no longer) good. */
  redeem(ticket: string): Promise<string | undefined>;
  /** Writes the discovery file (0600) for this address; answers the one-time link. */
  publish(url: string, port: number): Promise<string | undefined>;
  /** Takes the token of this start out of the discovery file. */
  retract(): Promise<void>;
}
