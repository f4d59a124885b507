/** A node of a team server. It keeps no state: any number of nodes may run on one database and one store of bodies. */
import type { H3 } from "h3";
import { type Storage, toMessage } from "sessarc";
import { createKernel, toOpenApi } from "sessarc/serve";
import { acquireLock } from "sessarc/storage";
import type { CommandContext } from "sessarc/terminal";
import { openTeamDatabase } from "../database/index.ts";
import type { TeamDatabase } from "../types.ts";
import { createAccessLog } from "./accounts/access-log.ts";
import { createDirectory } from "./accounts/directory.ts";
import { createInvitations } from "./accounts/join.ts";
import { createLeaving } from "./accounts/leaving.ts";
import { createRateLimit } from "./accounts/rate.ts";
import { ACCOUNTS } from "./accounts/schema.ts";
import { newSigningKey, toSigningKey } from "./accounts/secrets.ts";
import { createTokens } from "./accounts/tokens.ts";
import { serverRoutes } from "./api/index.ts";
import { type Services, toAddress } from "./api/services.ts";
import { createBlobStore } from "./blobs.ts";
import "./errors.ts";
import { createFront } from "./front.ts";
import { createGate, type Gate, readAddress } from "./gate.ts";
import { createIngest } from "./ingest/ingest.ts";
import { createRereading, type Rereading } from "./ingest/reread.ts";
import { kernelConfig, NOBODY } from "./kernel-parts.ts";
import { createMetrics } from "./metrics.ts";
import { createPersonKernels } from "./people/kernels.ts";
import { openRepositories } from "./people/repositories.ts";
import { createPlaces } from "./places.ts";
import { serverPlugins } from "./plugins.ts";
import { createReplaced } from "./replaced.ts";
import { openBodies, toStorage } from "./storage.ts";
import { createSweep, type Sweep } from "./sweep.ts";

export interface NodeOptions {
  /** postgres://…, or a folder for PGlite. */
  database: string;
  /** A folder, or a driver of unstorage as JSON. */
  blobs: string;
  /** A folder for what the node needs of a disk; where `blobs` is a folder, that one is used. */
  folder: string;
  /** What people type where a proxy is in front: https://team.example.com. */
  address?: string | undefined;
  /** A folder of repositories. */
  repositories?: string | undefined;
  /** False: logs are not parsed again in the background. */
  parseAgain?: boolean | undefined;
  plugins: CommandContext["plugins"];
  config: CommandContext["config"];
  log(line: string): void;
}

export interface TeamNode {
  app: H3;
  /** Of --address. */
  readonly publicAddress: string | undefined;
  readonly database: TeamDatabase;
  readonly transcripts: Storage["transcripts"];
  /** Logs that are parsed again in the background. */
  readonly rereading: Pick<Rereading, "idle" | "pass" | "state">;
  /** What killed pushes and imports left. */
  readonly sweep: Sweep;
  /** Must be called before the first request: requests are checked against it. */
  listens(host: string, port: number): void;
  /** At the first start: the link by which the owner joins. Undefined once a machine has joined. */
  ownerLink(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Whose server it is: the schema has room for several. */
const TENANT = 1;
/** Bodies of some MiB that are read at once. */
const BODIES = 16;
const BODIES_EACH = 4;
/** Manifests in memory: a machine sends three sessions at once. */
const PUSHES = 24;
const PUSHES_EACH = 3;
/** Questions that are answered at once: each may read many sessions. */
const QUESTIONS = 8;
const QUESTIONS_EACH = 4;
const ACCESS_DAYS = 90;
const UNUSED_DAYS = 7;
const HOUR_MS = 3_600_000;

/** Opens database and bodies, brings the schema up to date, and makes the app. */
export async function createNode(options: NodeOptions): Promise<TeamNode> {
  const { log, config } = options;
  const address = options.address === undefined ? undefined : readAddress(options.address);
  const bodies = await openBodies(options.blobs, options.folder);
  const repositories = options.repositories === undefined ? undefined : await openRepositories(options.repositories);
  const plugins = await serverPlugins(options.plugins, repositories !== undefined);
  const closers: (() => Promise<void>)[] = [];
  try {
    // PGlite itself does not notice a second process in its folder, which would damage it.
    if (!/^postgres(ql)?:/.test(options.database)) {
      const lock = await acquireLock(`${options.database}.lock`);
      closers.push(() => lock.release());
    }
    const database = await openTeamDatabase({ database: options.database });
    closers.push(() => database.close());
    for (const { plugin, steps } of plugins.migrations) await database.migrate(plugin, steps);
    await database.migrate("team", ACCOUNTS);
    const { owner } = database;
    const directory = createDirectory(owner, TENANT);
    const blobs = createBlobStore(owner, TENANT, bodies.files);
    const parts = { database, bodies, plugins, repositories, config, log };
    const replaced = createReplaced(owner, TENANT, bodies.transcripts);
    const ingest = createIngest({ ...parts, tenant: TENANT, blobs, replaced });
    closers.push(() => ingest.close());
    const rereading = createRereading({
      database,
      tenant: TENANT,
      plugins,
      blobs,
      ingest,
      background: options.parseAgain !== false,
      log,
    });
    closers.push(() => rereading.close());
    const sweep = createSweep({ database, tenant: TENANT, bodies, blobs, ingest });
    let gate: Gate = createGate("127.0.0.1", 0, address);
    const kernels = createPersonKernels(parts, directory, () => gate.addresses[0] ?? "");
    closers.push(() => kernels.close());
    const services: Services = {
      tenant: TENANT,
      database,
      directory,
      invitations: createInvitations(owner, TENANT, directory),
      leaving: createLeaving(owner, TENANT, directory),
      tokens: createTokens(owner, TENANT, directory),
      access: createAccessLog(owner, TENANT, log),
      blobs,
      ingest,
      rereading,
      metrics: createMetrics(),
      signing: toSigningKey(await signingKey(database)),
      limits: { join: createRateLimit(10, 60_000), token: createRateLimit(240, 60_000) },
      places: {
        bodies: createPlaces(BODIES, BODIES_EACH),
        pushes: createPlaces(PUSHES, PUSHES_EACH),
        questions: createPlaces(QUESTIONS, QUESTIONS_EACH),
      },
      gate: () => gate,
      isReady: () =>
        owner.get("select 1 from team_space limit 1").then(
          () => true,
          (error: unknown) => {
            log(`Not ready: ${toMessage(error)}`);
            return false;
          },
        ),
      describe: () =>
        toOpenApi(
          serverRoutes.flatMap((route) =>
            route.path.startsWith("/team/api/") ? { plugin: "team", fullPath: route.path, route } : [],
          ),
          toAddress(services),
          {
            title: "sessarc team",
            description: "A team's archive for the sessions of coding assistants.",
            token: "always",
          },
        ),
      async gauges() {
        const logs = await rereading.state();
        return {
          kernels: kernels.size,
          pushes_waiting: ingest.waiting,
          access_waiting: services.access.waiting,
          questions_waiting: services.places.questions.waiting,
          generation: await database.generation(TENANT),
          logs_to_parse: logs.waiting,
          logs_unparsed: logs.failed,
        };
      },
    };
    const front = createFront({ services, offers: plugins.offers, kernel: (caller) => kernels.of(caller) });
    const kernel = await createKernel({
      config: kernelConfig(config, bodies),
      storage: toStorage(owner, bodies, true),
      plugins: [{ name: "team-server", routes: serverRoutes, setup: (opened) => opened.provide("team-server", front) }],
      partial: true,
      env: NOBODY,
      front,
      log,
    });
    closers.push(() => kernel.close());
    const { H3 } = await import("h3");
    const app = await kernel.app();
    if (!(app instanceof H3)) throw new TypeError("the app is one of another h3");
    const prune = async () => {
      await services.access.prune(ACCESS_DAYS);
      await services.tokens.prune();
      await blobs.prune(UNUSED_DAYS);
      await replaced.prune();
      await sweep.run();
      rereading.wake();
    };
    const timer = setInterval(() => {
      prune().catch((error: unknown) => log(`Old entries could not be deleted: ${toMessage(error)}`));
    }, HOUR_MS).unref();
    closers.push(async () => clearInterval(timer));
    rereading.wake();
    return {
      app,
      publicAddress: address,
      database,
      transcripts: bodies.transcripts,
      rereading,
      sweep,
      listens(host, port) {
        gate = createGate(host, port, address);
      },
      async ownerLink() {
        const code = await services.invitations.first();
        return code === undefined ? undefined : `${gate.addresses[0]}/join#${code}`;
      },
      close: () => closeAll(closers),
    };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

/** Last opened first; one that fails does not keep the others open. */
async function closeAll(closers: (() => Promise<void>)[]): Promise<void> {
  const failed: unknown[] = [];
  for (const close of closers.splice(0).reverse()) await close().catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw failed[0];
}

/** The key that signs receipts; the same for all nodes. Of two nodes that make one at the same time the first one's counts. */
async function signingKey({ owner }: TeamDatabase): Promise<string> {
  await owner.run(
    "insert into team_setting (tenant, name, value) values (?, 'signing-key', ?) on conflict do nothing",
    [TENANT, newSigningKey()],
  );
  const row = await owner.get<{ value: string }>(
    "select value from team_setting where tenant = ? and name = 'signing-key'",
    [TENANT],
  );
  if (!row) throw new Error("the server's key is missing");
  return row.value;
}
