/** This machine in its teams: joining, choosing projects, pushing, withdrawing, leaving. */
import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { createQueue, isSessarcError, type Kernel, SessarcError } from "sessarc";
import type {
  AccessEntry,
  Device,
  EndedMachine,
  EndedPerson,
  Invitation,
  ParsedLogs,
  Person,
  SharedSpace,
  Space,
  Withdrawn,
} from "../wire/answers.ts";
import { TeamApi, TOGETHER } from "./api.ts";
import { createDeviceKey, removeDeviceKey } from "./device.ts";
import { isPrivate } from "./links.ts";
import { type PushFrame, type PushOptions, type PushReport, push } from "./push.ts";
import { createTeamStore, type PushedOf, type PushedRow, type Server } from "./store.ts";

export interface ClientOptions {
  /** ms until a request is repeated the first time. */
  retryMs?: number | undefined;
  /** ms of the longest wait before a request is repeated. */
  longestWaitMs?: number | undefined;
  /** ms that an answer may take. */
  answerMs?: number | undefined;
}

export interface TeamStatus {
  servers: {
    address: string;
    person: { id: string; name: string };
    machine: string;
    joinedAt: string;
    spaces: Space[];
    /** Where projects go that are chosen without a space. */
    space: number;
    projects: { id: string; name: string; space: number; sessions: number }[];
    pushed: number;
    withdrawn: number;
    /** Pushed sessions that count to another project now, from which nothing is pushed. */
    moved: number;
    lastAt: string | null;
    /** Why the server did not answer, or, where it was not asked, why the last push failed. */
    problem: { code: string; message: string; fix: string | null } | null;
  }[];
  /** A push is under way. */
  pushing: boolean;
}

export interface TeamPeople {
  people: Person[];
  devices: Device[];
  spaces: SharedSpace[];
  /** Logs that the server parses again. */
  logs: ParsedLogs;
}

export interface Withdrawal {
  address: string;
  removed: Withdrawn["removed"];
  receipt: string;
  signature: string;
  publicKey: string;
}

export interface AccessLog {
  /** Newest first, with the names of person and machine. */
  entries: (Omit<AccessEntry, "device"> & { machine: string | null })[];
}

/** A token that only reads; it is in this answer and nowhere else. */
export interface MadeToken {
  address: string;
  id: string;
  token: string;
  expires: string;
}

export type TeamClient = ReturnType<typeof createClient>;

export function createClient(kernel: Kernel, options: ClientOptions) {
  const store = createTeamStore(kernel.storage.db);
  const pushes = createQueue();
  let running = 0;
  const cancels = new Set<AbortController>();
  /** Of each server, why the last push failed. */
  const problems = new Map<string, NonNullable<TeamStatus["servers"][number]["problem"]>>();

  const toApi = ({ address, device, keyFile }: Server, signal: AbortSignal = kernel.closing) =>
    new TeamApi(address, { device, keyFile: keyPath(keyFile) }, { ...options, signal });
  const keyPath = (name: string) => kernel.storage.path("team", "keys", name);

  /** The server that a part of its address means; the only one without. */
  async function readServer(wanted: string | undefined): Promise<Server> {
    const servers = await store.servers();
    if (servers.length === 0) throw new SessarcError("TEAM_NOT_JOINED", {});
    const exact = servers.find(({ address }) => address === wanted);
    if (exact) return exact;
    const found = servers.filter(({ address }) => wanted === undefined || address.includes(wanted));
    const [one] = found;
    if (one && found.length === 1) return one;
    throw new SessarcError("TEAM_SERVER_UNKNOWN", {
      server: wanted ?? "without --server",
      known: servers.map(({ address }) => address),
    });
  }

  function toSpace(
    { spaces, space }: { spaces: readonly Pick<Space, "id" | "name" | "kind">[]; space: number },
    wanted: string | undefined,
  ): number {
    if (wanted === undefined) return space;
    const lower = wanted.toLowerCase();
    const found = spaces.find(({ id, name, kind }) => [String(id), name.toLowerCase(), kind].includes(lower));
    if (found) return found.id;
    throw new SessarcError("TEAM_SPACE_UNKNOWN", { space: wanted, known: spaces.map(({ name }) => name) });
  }

  async function readProject(wanted: string): Promise<string> {
    const [id, ...others] = await kernel.inject("archive").projectIds(wanted);
    if (others.length > 0)
      throw new SessarcError("INVALID_INPUT", {
        reason: `${wanted} means several projects: ${[id, ...others].join(", ")}`,
      });
    return id;
  }

  const client = {
    /** Joins by an invitation link. The key is made first: a join that fails leaves no trace. */
    async join(
      link: string,
      wishes: { name?: string | undefined; machine?: string | undefined; space?: string | undefined },
    ) {
      const { address, invite } = readLink(link);
      if ((await store.servers()).some((server) => server.address === address))
        throw new SessarcError("TEAM_JOINED", { address });
      const keyFile = `${randomBytes(12).toString("hex")}.pem`;
      const publicKey = await createDeviceKey(keyPath(keyFile));
      try {
        const api = new TeamApi(address, undefined, { ...options, signal: kernel.closing });
        const name = wishes.name ?? kernel.env.env.USER ?? userInfo().username;
        const body = { invite, publicKey, name, machine: wishes.machine ?? hostname() };
        const joined = await api.ask("POST /join", { body });
        const own = joined.spaces.find(({ kind, mine }) => kind === "private" && mine) ?? joined.spaces[0];
        const space = toSpace({ spaces: joined.spaces, space: own?.id ?? 0 }, wishes.space);
        // The address of the link is where this machine reaches the server; the server may know itself by another one.
        await store.add(address, joined, keyFile, space);
      } catch (error) {
        await removeDeviceKey(keyPath(keyFile));
        throw error;
      }
      return client.status({ ask: false });
    },

    /** `ask`: the server about spaces, which others may have changed. */
    async status({ ask }: { ask: boolean }): Promise<TeamStatus> {
      const archive = kernel.inject("archive");
      const servers: TeamStatus["servers"] = [];
      for (const server of await store.servers()) {
        let problem = problems.get(server.address) ?? null;
        if (ask) {
          try {
            const { spaces } = await toApi(server).ask("GET /me", {});
            server.spaces = spaces;
            problem = null;
            if (!kernel.storage.readOnly) await store.setSpaces(server.address, spaces);
          } catch (error) {
            if (!isSessarcError(error)) throw error;
            problem = toProblem(error);
          }
        }
        const projects = [];
        for (const { project_id, space } of await store.projects(server.address)) {
          const project = await archive.project(project_id).catch(unlessGone);
          if (project) projects.push({ id: project_id, name: project.name, space, sessions: project.sessionCount });
        }
        const { address, person, machine, joinedAt, spaces, space } = server;
        const counts = { ...(await store.counts(address)), moved: (await store.moved(address)).length };
        servers.push({ address, person, machine, joinedAt, spaces, space, projects, ...counts, problem });
      }
      return { servers, pushing: running > 0 };
    },

    async choose(changes: {
      server?: string | undefined;
      add?: readonly string[] | undefined;
      remove?: readonly string[] | undefined;
      space?: string | undefined;
      /** Where projects go from now on that are chosen without a space. */
      usual?: boolean | undefined;
    }): Promise<TeamStatus> {
      const server = await readServer(changes.server);
      if (changes.space !== undefined) {
        server.spaces = (await toApi(server).ask("GET /me", {})).spaces;
        await store.setSpaces(server.address, server.spaces);
      }
      const space = toSpace(server, changes.space);
      const added = await Promise.all((changes.add ?? []).map(readProject));
      const removed = await Promise.all((changes.remove ?? []).map(readProject));
      for (const project of added) await store.choose(server.address, project, space);
      for (const project of removed) await store.unchoose(server.address, project);
      if (changes.usual) await store.setSpace(server.address, space);
      return client.status({ ask: false });
    },

    /** Pushes run one at a time. */
    async push(
      wishes: Omit<PushOptions, "projects"> & { server?: string | undefined; projects?: readonly string[] | undefined },
      onFrame: (frame: PushFrame) => void,
      signal?: AbortSignal,
    ): Promise<PushReport> {
      const server = await readServer(wishes.server);
      const projects = wishes.projects && (await Promise.all(wishes.projects.map(readProject)));
      if ((await store.projects(server.address)).length === 0) throw new SessarcError("TEAM_NO_PROJECTS", {});
      const cancel = new AbortController();
      cancels.add(cancel);
      const ends = AbortSignal.any([kernel.closing, cancel.signal, ...(signal ? [signal] : [])]);
      const outbox = kernel.storage.path("team", "outbox");
      const next = pushes(() => {
        const parts = { kernel, store, server, api: toApi(server, ends), outbox, signal: ends, onFrame };
        return push(parts, { ...wishes, projects });
      });
      running++;
      try {
        const report = await next;
        problems.delete(server.address);
        return report;
      } catch (error) {
        if (isSessarcError(error)) problems.set(server.address, toProblem(error));
        throw error;
      } finally {
        running--;
        cancels.delete(cancel);
      }
    },

    /** Removes sessions from the server; they stay here, and no push brings them back unless it is asked to. */
    async withdraw(wishes: {
      server?: string | undefined;
      sessions?: readonly string[] | undefined;
      project?: string | undefined;
    }): Promise<Withdrawal> {
      const server = await readServer(wishes.server);
      const pushed = await store.pushed(server.address);
      const project = wishes.project === undefined ? undefined : await readProject(wishes.project);
      const rows = (wishes.sessions ?? []).map((id) => pushed.get(id) ?? unknownHere(id));
      if (project !== undefined) rows.push(...[...pushed.values()].filter((row) => row.project_id === project));
      // A push under way could bring back what is being withdrawn.
      for (const cancel of cancels) cancel.abort();
      await pushes.idle();
      const api = toApi(server);
      const all: Withdrawal = { address: server.address, removed: [], receipt: "", signature: "", publicKey: "" };
      for (let at = 0; at < rows.length; at += TOGETHER) {
        const some = rows.slice(at, at + TOGETHER);
        const { removed, receipt, signature, publicKey } = await api.withdraw(
          some.map((row) => row.pushed_id),
          server.person.id,
        );
        await store.noteWithdrawn(server.address, some, JSON.stringify({ receipt, signature, publicKey }));
        Object.assign(all, { removed: [...all.removed, ...removed], receipt, signature, publicKey });
      }
      if (project !== undefined) await store.unchoose(server.address, project);
      return all;
    },

    /** An invitation link: for another person, or (`mine`) for another machine of this one. Spaces by name; default: the team's. */
    async invite(wishes: {
      server?: string | undefined;
      scopes?: ("push" | "read" | "own")[] | undefined;
      spaces?: readonly string[] | undefined;
      mine?: boolean | undefined;
      days?: number | undefined;
    }): Promise<Invitation> {
      const server = await readServer(wishes.server);
      const api = toApi(server);
      const all = wishes.spaces ? (await api.ask("GET /spaces", {})).spaces : [];
      const spaces = wishes.spaces?.map((name) => toSpace({ spaces: all, space: 0 }, name));
      return api.invite({
        scopes: wishes.scopes ?? ["push", "read"],
        ...(spaces && { spaces }),
        ...(wishes.mine && { person: server.person.id }),
        ...(wishes.days !== undefined && { days: wishes.days }),
      });
    },

    /** People, machines and spaces, as far as this person may see them, and how many logs the server parses again. */
    async people(wanted: string | undefined): Promise<TeamPeople> {
      const api = toApi(await readServer(wanted));
      const { people } = await api.ask("GET /people", {});
      const { devices } = await api.ask("GET /devices", {});
      const { spaces } = await api.ask("GET /spaces", {});
      const { waiting, failed, without } = await api.ask("GET /logs", {});
      return { people, devices, spaces, logs: { waiting, failed, without } };
    },

    /** Creates a space with these people in it, or adds them to the one of that name. People by id or name. */
    async space(wishes: {
      server?: string | undefined;
      name: string;
      people: readonly string[];
    }): Promise<SharedSpace[]> {
      const server = await readServer(wishes.server);
      const api = toApi(server);
      const { people } = await api.ask("GET /people", {});
      const ids = wishes.people.map((wanted) => toPerson(people, wanted));
      const known = (await api.ask("GET /spaces", {})).spaces.find(
        ({ name }) => name.toLowerCase() === wishes.name.toLowerCase(),
      );
      if (!known) await api.ask("POST /spaces", { body: { name: wishes.name, kind: "project", people: ids } });
      else if (ids.length > 0)
        await api.ask("POST /spaces/:id/people", { params: { id: String(known.id) }, body: { people: ids } });
      await store.setSpaces(server.address, (await api.ask("GET /me", {})).spaces);
      return (await api.ask("GET /spaces", {})).spaces;
    },

    /** The newest requests to the server: of all people for an owner, else this person's. A person by id or name. */
    async access(wanted: string | undefined, person: string | undefined, limit: number): Promise<AccessLog> {
      const api = toApi(await readServer(wanted));
      const [{ people: present, former }, { devices }] = [
        await api.ask("GET /people", {}),
        await api.ask("GET /devices", {}),
      ];
      const people = [...present, ...former];
      const { entries } = await api.ask("GET /access", {
        query: { limit: String(limit), ...(person !== undefined && { person: toPerson(people, person) }) },
      });
      const findName = (known: readonly { id: string; name: string }[], id: string | null) =>
        known.find((one) => one.id === id)?.name ?? id;
      return {
        entries: entries.map(({ device, ...entry }) => ({
          ...entry,
          person: findName(people, entry.person),
          machine: findName(devices, device),
        })),
      };
    },

    /** Ends a machine's access at once; what it pushed stays. `stolen`: also this person's machines that joined by its invitations. */
    async revoke(wanted: string | undefined, device: string, stolen: boolean): Promise<EndedMachine> {
      const query = stolen ? { stolen: "1" } : {};
      return toApi(await readServer(wanted)).ask("DELETE /devices/:id", { params: { id: device }, query });
    },

    /** Ends a person's access at once. The private space goes to the person `give`, or is deleted. People by id or name. */
    async removePerson(wanted: string | undefined, person: string, give: string | undefined): Promise<EndedPerson> {
      const api = toApi(await readServer(wanted));
      const { people } = await api.ask("GET /people", {});
      const id = toPerson(people, person);
      const body =
        give === undefined ? { private: "delete" as const } : { private: "give" as const, to: toPerson(people, give) };
      return api.ask("DELETE /people/:id", { params: { id }, body });
    },

    /** A token that only reads, for a program that reads for months. */
    async makeToken(wishes: {
      server?: string | undefined;
      name?: string | undefined;
      days?: number | undefined;
    }): Promise<MadeToken> {
      const server = await readServer(wishes.server);
      const body = { name: wishes.name ?? `on ${hostname()}`.slice(0, 100), days: wishes.days };
      const made = await toApi(server).ask("POST /tokens", { body });
      return { address: server.address, ...made };
    },

    /** Read tokens: an owner's answer has those of all people. */
    tokens: async (wanted: string | undefined) => toApi(await readServer(wanted)).ask("GET /tokens", {}),

    async revokeToken(wanted: string | undefined, id: string): Promise<{ revoked: true }> {
      await toApi(await readServer(wanted)).ask("DELETE /tokens/:id", { params: { id } });
      return { revoked: true };
    },

    /** A one-time link into the team's dashboard. */
    open: async (wanted: string | undefined) => toApi(await readServer(wanted)).open(),

    /** Forgets the server and the key. What was pushed stays there. */
    async leave(wanted: string | undefined): Promise<{ address: string; pushed: number }> {
      const { address, keyFile } = await readServer(wanted);
      for (const cancel of cancels) cancel.abort();
      await pushes.idle();
      const { pushed } = await store.counts(address);
      await store.remove(address);
      problems.delete(address);
      await removeDeviceKey(keyPath(keyFile));
      return { address, pushed };
    },

    serversOf: (ids: readonly string[]) => store.serversOf(ids),
    pushedOf: (wanted: PushedOf) => store.pushedOf(wanted),

    /** Removes these sessions from every server that they were pushed to. */
    async withdrawAll(ids: readonly string[]): Promise<void> {
      const pushed = await store.serversOf(ids);
      for (const server of new Set(pushed.map(({ address }) => address))) {
        const sessions = pushed.filter(({ address }) => address === server).map(({ session_id }) => session_id);
        await client.withdraw({ server, sessions });
      }
    },

    /** Pushes to every server, without those where this machine is one of `without`. Answers what failed: a server, or a session. */
    async pushAll(without: ReadonlySet<string>): Promise<{ about: string; device: string; error: unknown }[]> {
      const problems: { about: string; device: string; error: unknown }[] = [];
      for (const { address, device } of await store.servers()) {
        if (without.has(device) || (await store.projects(address)).length === 0) continue;
        try {
          const { failed } = await client.push({ server: address }, () => {});
          for (const { id, message } of failed)
            problems.push({
              about: `${device} ${id}`,
              device,
              error: new SessarcError("TEAM_PUSH_FAILED", { id, reason: message }),
            });
        } catch (error) {
          problems.push({ about: device, device, error });
        }
      }
      return problems;
    },

    async close(): Promise<void> {
      for (const cancel of cancels) cancel.abort();
      await pushes.idle();
    },
  };
  return client;
}

/** An archive that was restored from an older backup may not know what it pushed. */
const unknownHere = (id: string): PushedRow => ({
  session_id: id,
  project_id: "",
  pushed_id: id,
  stamp: "",
  digest: "",
});

/** The id of the person whom an id or a name means. */
function toPerson(people: readonly Pick<Person, "id" | "name">[], wanted: string): string {
  const found = people.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase());
  const [one] = found;
  if (one && found.length === 1) return one.id;
  throw new SessarcError("TEAM_PERSON_UNKNOWN", {
    person: wanted,
    known: people.map(({ id, name }) => `${name} (${id})`),
  });
}

const toProblem = ({ code, message, fix }: SessarcError) => ({ code, message, fix: fix ?? null });

function unlessGone(error: unknown): undefined {
  if (!isSessarcError(error) || error.code !== "PROJECT_NOT_FOUND") throw error;
}

/** Address and code of `https://team.example.com/join#code`. */
export function readLink(link: string): { address: string; invite: string } {
  const refuse = (reason: string) => new SessarcError("TEAM_LINK_INVALID", { reason });
  if (!URL.canParse(link)) throw refuse("it is not an address");
  const url = new URL(link);
  if (!isPrivate(url)) throw refuse("it does not begin with https://, so others could read what is sent");
  if (url.username !== "" || url.password !== "") throw refuse("it has a password in its address");
  const invite = url.hash.slice(1);
  if (!/^[\w-]{16,200}$/.test(invite)) throw refuse("it has no code after #");
  return { address: url.origin, invite };
}
