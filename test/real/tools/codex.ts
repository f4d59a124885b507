import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Call, ModelRequest } from "../model/script.ts";
import type { Driver } from "./types.ts";

/** A model to which Codex offers its tools one by one; the others of its catalogue get the one tool `exec` ("code mode"). */
export const CLASSIC = "gpt-5.5";
export const CODE_MODE = "gpt-5.6-luna";

export const codex: Driver = {
  name: "codex",
  package: "@openai/codex",
  command: "codex",
  async setUp({ home, cwd, url }) {
    await mkdir(join(home, ".codex"), { recursive: true });
    const config = `model_provider = "bench"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.bench]
name = "bench"
base_url = "${url}/v1"
env_key = "BENCH_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[projects.${JSON.stringify(cwd)}]
trust_level = "trusted"
`;
    await writeFile(join(home, ".codex", "config.toml"), config);
  },
  env: () => ({ BENCH_KEY: "bench" }),
  args: ({ prompt, resume, fork, model = CLASSIC, extra = [] }) => [
    "exec",
    ...(resume ? [fork ? "fork" : "resume"] : []),
    ...["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "-m", model],
    ...extra,
    ...(resume ? [resume] : []),
    prompt,
  ],
  sessionId: ({ stderr }) => /session id: (\S+)/.exec(stderr)?.[1],
  compaction: { prompt: "go on", extra: ["-c", "model_auto_compact_token_limit=500"] },
  words: {
    shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
    write: (_place, path, text) => ({ name: "apply_patch", input: addPatch(path, text) }),
    edit: (_place, path, from, to) => ({ name: "apply_patch", input: editPatch(path, from, to) }),
    agent: (message) => [
      [{ name: "spawn_agent", namespace: GROUP, input: { message } }],
      (request) => [
        { name: "wait_agent", namespace: GROUP, input: { targets: [agentIn(request)], timeout_ms: 20_000 } },
      ],
    ],
  },
};

/** The same program with a model of the code mode: each deed is a script, the call inside it is one of its own. */
export const codexCodeMode: Driver = {
  ...codex,
  label: "codex, code mode",
  args: (ask, place) => codex.args({ model: CODE_MODE, ...ask }, place),
  words: {
    shell: (cmd) => script("exec_command", `text(await tools.exec_command(${JSON.stringify({ cmd })}));`),
    write: (_place, path, text) => script("apply_patch", patchScript(addPatch(path, text))),
    edit: (_place, path, from, to) => script("apply_patch", patchScript(editPatch(path, from, to))),
    agent: (message) => [
      [
        {
          ...script("spawn_agent", AGENT_SCRIPT.replace("$ARGUMENTS", JSON.stringify({ message }))),
          nested: ["spawn_agent", "wait"],
        },
      ],
    ],
  },
};

const GROUP = "multi_agent_v1";
const AGENT_SCRIPT = `const agent = await tools.multi_agent_v1__spawn_agent($ARGUMENTS);
text(await tools.multi_agent_v1__wait_agent({ targets: [agent.agent_id], timeout_ms: 20000 }));`;

const script = (nested: string, input: string): Call => ({ name: "exec", input, nested: [nested] });

const patchScript = (patch: string) => `text(await tools.apply_patch(${JSON.stringify(patch)}));`;

const addPatch = (path: string, text: string) =>
  `*** Begin Patch\n*** Add File: ${path}\n+${text.trimEnd().replaceAll("\n", "\n+")}\n*** End Patch`;

const editPatch = (path: string, from: string, to: string) =>
  `*** Begin Patch\n*** Update File: ${path}\n@@\n-${from}\n+${to}\n*** End Patch`;

/** The id that the call before has answered with. */
const agentIn = ({ body }: ModelRequest) => /agent_id\W+([0-9a-f-]{36})/.exec(JSON.stringify(body.input))?.[1] ?? "";
