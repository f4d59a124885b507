/** Conversations that a person exported from ChatGPT or Claude.ai. They have no default folder: the user chooses one. */
import { basename, join } from "node:path";
import { type SessionRef, toRecord } from "sessarc";
import { defineAdapter, fileStamp, type ListElement, readFolder, readListElement } from "sessarc/adapter";

export interface ChatExportOptions {
  /** The folder that holds `conversations.json` (or `conversations-000.json` and so on). Nothing is read without it. */
  dir?: string;
  /** Whose export; default `chatgpt`. */
  variant?: "chatgpt" | "claude-ai";
}

const MEMBERS = {
  chatgpt: { name: "chatgpt", label: "ChatGPT export" },
  "claude-ai": { name: "claude-ai", label: "Claude.ai export" },
} as const;

const EXPORT = /^conversations(?:-\d+)?\.json$/;

type Place = Pick<ListElement, "offset" | "length">;
type Listed = Omit<SessionRef, "tool"> & { place: Place };

export default defineAdapter((options: ChatExportOptions | undefined) => {
  const member = MEMBERS[options?.variant ?? "chatgpt"];
  const known = new Map<string, { stamp: string; listed: Map<string, Listed> }>();

  /** The conversations of an export; one that did not change is not read again. */
  async function readConversations(path: string): Promise<Map<string, Listed>> {
    const stamp = await fileStamp(path);
    if (!stamp) return new Map();
    const last = known.get(path);
    if (last?.stamp === stamp.version) return last.listed;
    const { listConversations } = await import("./conversations.ts");
    const listed = new Map<string, Listed>();
    for await (const one of listConversations(path, member.name))
      listed.set(one.key, { ...one, path, mtime: stamp.mtime });
    known.set(path, { stamp: stamp.version, listed });
    return listed;
  }

  return {
    name: member.name,
    label: member.label,
    roots() {
      if (options?.dir === undefined) return [];
      const { dir } = options;
      const files = readFolder(dir).filter((entry) => entry.isFile() && EXPORT.test(entry.name));
      return [...new Set(["conversations.json", ...files.map((entry) => entry.name)])].map((name) => join(dir, name));
    },
    async *scan(root) {
      if (!EXPORT.test(basename(root))) return;
      for (const { place: _, ...ref } of (await readConversations(root)).values()) yield ref;
    },
    peek: async () => ({ virtualProject: { key: member.name, name: member.label } }),
    token: async ({ path }) => (await fileStamp(path))?.version ?? "",
    async open(path) {
      const listed = await readConversations(path);
      return {
        version: ({ key }) => listed.get(key)?.version,
        async *read({ key }, onBytes) {
          const found = listed.get(key);
          if (!found) return undefined;
          onBytes(found.place.length);
          const { readConversation } = await import("./conversations.ts");
          const { events, summary } = readConversation(toRecord(await readListElement(path, found.place)), member.name);
          yield* events;
          return { ...summary, virtualProject: { key: member.name, name: member.label } };
        },
      };
    },
  };
});
