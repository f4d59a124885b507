import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
};
