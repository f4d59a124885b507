/** `sessarc team` and `sessarc push`. The code of each word is loaded when it is used. */
import { type Command, type CommandContext, UsageError } from "sessarc/terminal";

type Run = (ctx: CommandContext) => Promise<number> | number;

/** What `sessarc team <word>` does. */
const WORDS: Readonly<Record<string, () => Promise<{ run: Run }>>> = {
  serve: () => import("./server/serve.ts"),
  join: () => import("./client/commands/join.ts"),
  status: () => import("./client/commands/status.ts"),
  projects: () => import("./client/commands/projects.ts"),
  withdraw: () => import("./client/commands/withdraw.ts"),
  open: () => import("./client/commands/open.ts"),
  invite: () => import("./client/commands/invite.ts"),
  people: () => import("./client/commands/people.ts"),
  access: () => import("./client/commands/access.ts"),
  spaces: () => import("./client/commands/spaces.ts"),
  revoke: () => import("./client/commands/revoke.ts"),
  remove: () => import("./client/commands/remove.ts"),
  token: () => import("./client/commands/token.ts"),
  tokens: () => import("./client/commands/tokens.ts"),
  leave: () => import("./client/commands/leave.ts"),
};

async function runTeam(ctx: CommandContext): Promise<number> {
  const [word = "status", ...args] = ctx.args;
  const load = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (!load)
    throw new UsageError(`\`sessarc team\` takes ${Object.keys(WORDS).join(", ")}, not ${JSON.stringify(word)}`);
  return (await load()).run({ ...ctx, args });
}

export const commands: readonly Command[] = [
  {
    name: "team",
    summary: "A team's server: join it, choose what this machine pushes",
    usage:
      "[status] [--ask] | open | people | access [<person>] | leave\nrevoke <machine> [--stolen] | remove <person> --give PERSON | --delete-private\njoin <link> [--name NAME] [--space SPACE] | projects [<project>…] [--space SPACE] [--remove]\nwithdraw <session>… | --project P\ninvite [--mine] [--scopes LIST] [--space S] [--days N]\nspaces [<name> [<person>…]] | token [--name NAME] [--days N] | tokens [--revoke ID]\nserve [--database URL] [--blobs STORE] [--address URL] [--port n] [--repositories FOLDER]",
    options: {
      server: { type: "string" },
      space: { type: "string" },
      name: { type: "string" },
      project: { type: "string" },
      remove: { type: "boolean" },
      ask: { type: "boolean" },
      yes: { type: "boolean" },
      mine: { type: "boolean" },
      stolen: { type: "boolean" },
      give: { type: "string" },
      "delete-private": { type: "boolean" },
      scopes: { type: "string" },
      days: { type: "string" },
      revoke: { type: "string" },
      database: { type: "string" },
      blobs: { type: "string" },
      address: { type: "string" },
      repositories: { type: "string" },
      port: { type: "string", short: "p" },
      host: { type: "string" },
    },
    help: {
      server: "A part of the server's address, where this machine is in several teams",
      space: "Where the projects go: private, team, or a space's name",
      name: "Your name in the team (default: the name of this user); of a token: what it is for",
      project: "Withdraw all sessions of this project",
      remove: "No longer push these projects",
      ask: "Ask the servers for your spaces",
      yes: "Do not ask before something is withdrawn or forgotten",
      mine: "invite: for another machine of yours",
      stolen: "revoke: also the machines of its person that joined by its invitations",
      give: "remove: who reads the removed person's private space from now on",
      "delete-private": "remove: delete the removed person's private space",
      scopes: "invite: what the machine may do: push, read, own (default push,read)",
      days: "invite: how long the link is good, 1 to 30 (default 7); token: 1 to 365 (default 90)",
      revoke: "tokens: the read token to end",
      database: "serve: postgres://… or a folder (default: PGlite in the data directory)",
      blobs: "serve: a folder for transcripts and chunks, or a driver of unstorage as JSON",
      address: "serve: the address that people and machines use, behind a proxy",
      repositories: "serve: mirrors of repositories, in a folder for each space: receipts and blame",
      port: "serve: the port (default 41730 or the next free one)",
      host: "serve: the address to listen on (default 127.0.0.1)",
    },
    load: async () => ({ run: runTeam }),
  },
  {
    name: "push",
    summary: "Pushes chosen projects to the team's server, with secrets masked",
    usage: "[--project P]… [--session S]… [--since DAY] [--dry-run] [--watch]",
    options: {
      server: { type: "string" },
      project: { type: "string", multiple: true },
      session: { type: "string", multiple: true },
      since: { type: "string" },
      "dry-run": { type: "boolean" },
      again: { type: "boolean" },
      watch: { type: "boolean" },
    },
    help: {
      server: "A part of the server's address, where this machine is in several teams",
      project: "Only this project: id, name or path",
      session: "Only this session: id, its beginning, or last",
      since: "Only sessions since this day: 2026-11-01, 7d",
      "dry-run": "Send nothing, list exactly what would leave",
      again: "Also sessions that were withdrawn",
      watch: "Stay and push every minute what changed, until Ctrl-C",
    },
    operands: [],
    load: () => import("./client/commands/push.ts"),
  },
];
