import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { SIDE } from "../model/script.ts";
import type { Driver } from "./types.ts";

export const auggie: Driver = {
  name: "auggie",
  package: "@augmentcode/auggie",
  command: "auggie",
  node: "22",
  async setUp() {},
  // The login names the server; ours takes any token.
  env: ({ url }) => ({
    AUGMENT_SESSION_AUTH: JSON.stringify({ accessToken: "bench", tenantURL: `${url}/`, scopes: ["read", "write"] }),
    AUGMENT_DISABLE_AUTO_UPDATE: "1",
  }),
  args: ({ prompt, resume, extra = [] }) => ["--print", ...(resume ? ["--resume", resume] : []), ...extra, prompt],
  async sessionId(_, { home }) {
    const names = await readdir(join(home, ".augment", "sessions"));
    return names.find((name) => name.endsWith(".json"))?.replace(/\.json$/, "");
  },
  cannot: {
    "sub-agents": "the server decides whether they are offered",
    cancel: "what was called last has no result where a run is interrupted",
    fork: "a session is forked on its screen alone",
    compaction: "the server decides when it is due",
  },
  unlogged: ({ lane }) => (lane === SIDE ? "a title or a summary" : undefined),
  words: {
    shell: (command) => ({ name: "launch-process", input: { command, wait: true, max_wait_seconds: 30, cwd: "." } }),
    write: (_, path, text) => ({
      name: "save-file",
      input: {
        path,
        file_content: text.replace(/\n$/, ""),
        instructions_reminder:
          "LIMIT THE FILE CONTENT TO AT MOST 150 LINES. IF MORE CONTENT NEEDS TO BE ADDED USE THE str-replace-editor TOOL TO EDIT THE FILE AFTER IT HAS BEEN CREATED.",
        add_last_line_newline: true,
      },
    }),
    edit: (_, path, from, to) => ({
      name: "str-replace-editor",
      input: {
        command: "str_replace",
        path,
        instruction_reminder: "ALWAYS BREAK DOWN EDITS INTO SMALLER CHUNKS OF AT MOST 150 LINES EACH.",
        str_replace_entries: [{ old_str: from, new_str: to, old_str_start_line_number: 1, old_str_end_line_number: 1 }],
      },
    }),
    agent: () => [],
  },
};
