/** What the routes of the server's API ask. */

import type { TeamDatabase } from "../../types.ts";
import type { AccessLog } from "../accounts/access-log.ts";
import type { Directory } from "../accounts/directory.ts";
import type { Invitations } from "../accounts/join.ts";
import type { Leaving } from "../accounts/leaving.ts";
import type { RateLimit } from "../accounts/rate.ts";
import type { SigningKey } from "../accounts/secrets.ts";
import type { Tokens } from "../accounts/tokens.ts";
import type { BlobStore } from "../blobs.ts";
import type { Gate } from "../gate.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { Rereading } from "../ingest/reread.ts";
import type { Metrics } from "../metrics.ts";
import type { Places } from "../places.ts";

export interface Services {
  tenant: number;
  database: TeamDatabase;
  directory: Directory;
  invitations: Invitations;
  leaving: Leaving;
  tokens: Tokens;
  access: AccessLog;
  blobs: BlobStore;
  ingest: Ingest;
  rereading: Rereading;
  metrics: Metrics;
  signing: SigningKey;
  /** Throw TEAM_RATE_LIMITED. */
  limits: { join: RateLimit; token: RateLimit };
  /** Large bodies, sessions that are imported or wait for it, and questions of people. */
  places: { bodies: Places; pushes: Places; questions: Places };
  /** Known once the node listens. */
  gate(): Gate;
  /** Whether the database answers. */
  isReady(): Promise<boolean>;
  /** The server's API as OpenAPI. */
  describe(): Promise<Record<string, unknown>>;
  /** Figures of this moment, for the metrics. */
  gauges(): Promise<Readonly<Record<string, number>>>;
}

/** The address that people and machines use. */
export const toAddress = (services: Services): string => services.gate().addresses[0] ?? "";
