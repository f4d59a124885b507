/** A node on a socket, and machines that join it and push what their assistants logged. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toNodeHandler } from "h3";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import git from "../../plugins/git/index.ts";
import security from "../../plugins/security/index.ts";
import team from "../../plugins/team/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { openNode, type TestServer } from "./node.ts";
import type { Engine } from "./postgres.ts";

export interface Served {
  node: TestServer["node"];
  url: string;
  /** By which the owner joins. */
  ownerLink: string;
  /** Lines of the node's log. */
  log: string[];
  close(): Promise<void>;
}

export async function serveTeam(engine: Engine, options: Parameters<typeof openNode>[3] = {}): Promise<Served> {
  const { database, stop } = await engine.open();
  const folder = await mkdtemp(join(tmpdir(), "sessarc-team-"));
  const log: string[] = [];
  const node = await openNode(database, folder, log, options);
  const server = createServer(toNodeHandler(node.app));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  node.listens("127.0.0.1", port);
  return {
    node,
    url: `http://127.0.0.1:${port}`,
    ownerLink: (await node.ownerLink()) ?? "",
    log,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await node.close();
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A person's machine with the sample data. */
export interface Person {
  t: TestKernel;
  /** An invitation link that this person made. */
  invite(): Promise<string>;
  /** A sign-in link for a browser. */
  signIn(): Promise<string>;
  close(): Promise<void>;
}

/** Joins by the link and pushes the projects of these names to the space. */
export async function joinWithSamples(
  link: string,
  name: string,
  {
    machine = `${name}'s laptop`,
    projects,
    space = "Team",
  }: { machine?: string; projects: readonly string[]; space?: string },
): Promise<Person> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-team-"));
  await writeDemo({ home });
  const t = await createTestKernel({
    home,
    plugins: [archive(), git(), claude(), codex(), security(), team()],
    env: { USER: name.toLowerCase() },
    config: { dataDir: join(home, "data") },
  });
  const send = async <T>(method: string, path: string, body: object): Promise<T> => {
    const answer = await t.send<T>(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await send("POST", "/api/import", { all: true });
  await send("POST", "/api/team/join", { link, name, machine });
  const all = await t.json<{ id: string; name: string }[]>("/api/projects?git=0");
  const add = all.filter((one) => projects.includes(one.name)).map(({ id }) => id);
  await send("PUT", "/api/team/projects", { add, space });
  await send("POST", "/api/team/push", {});
  return {
    t,
    invite: async () => (await send<{ link: string }>("POST", "/api/team/invites", {})).link,
    signIn: async () => (await send<{ url: string }>("POST", "/api/team/open", {})).url,
    async close() {
      await t.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
