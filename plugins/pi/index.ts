/** pi and the assistants that write the same log: one JSON-lines file per session. */
import { join } from "node:path";
import { type AdapterEnv, defineAdapter, folderIn, peekLog } from "sessarc/adapter";
import { rescue } from "./rescue.ts";
import { TOOLS, VARIANTS, type Variant } from "./variants.ts";

export interface PiOptions {
  /** Replaces the assistant's folders. It may be a home, the assistant's own folder, or the folder of logs. */
  dir?: string;
  /** Which assistant; default `pi`. */
  variant?: keyof typeof VARIANTS;
}

export default defineAdapter((options: PiOptions | undefined) => {
  const variant: Variant = VARIANTS[options?.variant ?? "pi"];
  const { name, label, skills, servers, resume } = variant;
  const toRoots = (env: AdapterEnv) => (options?.dir ? [folderIn(options.dir, ...variant.places)] : variant.roots(env));
  return {
    name,
    label,
    ...(variant.unproved && { unproved: true }),
    ...(variant.tried && { tried: variant.tried }),
    roots: toRoots,
    async *scan(root) {
      if (variant.isLetta) return yield* (await import("./letta.ts")).scanSessions(root);
      const { scanSessions } = await import("./scan.ts");
      yield* scanSessions(root, variant.hasDatabase);
    },
    ...(variant.hasDatabase && {
      appends: ({ path }: { path: string }) => path.endsWith(".jsonl"),
      async open(path: string) {
        const { openDatabase } = await import("./database.ts");
        return openDatabase(path);
      },
    }),
    async parse(ref) {
      const { path } = ref;
      if (variant.isLetta) return (await import("./letta.ts")).createParser(ref);
      const { createParser } = await import("./parse.ts");
      return createParser(path);
    },
    async peek(ref) {
      if (!ref.path.endsWith(".jsonl")) return {};
      if (variant.isLetta) return peekLog(ref, (await import("./letta.ts")).createParser(ref));
      const { peek } = await import("./parse.ts");
      return peek(ref);
    },
    tools: variant.tools ?? TOOLS,
    ...(resume && { resume }),
    // The copies of its relatives were tried with none of them.
    ...(variant.name === "pi" && { rescue: rescue(toRoots) }),
    skills: {
      dirs: ({ home }) => [
        ...skills.project.map((path) => ({ path, scope: "project" as const })),
        ...skills.user.map((path) => ({ path: join(options?.dir ?? home, path), scope: "user" as const })),
      ],
    },
    ...(servers && {
      mcp: {
        files: ({ home }) => [{ path: join(options?.dir ?? home, servers), scope: "user" }],
        syntax: "json",
        variable: "braced",
        servers: (config, read) => read.servers(config, ["mcpServers"]),
        into: () => ["mcpServers"],
        link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
      },
    }),
  };
});
