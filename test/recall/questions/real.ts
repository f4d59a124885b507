/** Questions about the logs of real assistants that are beside the project, with the sessions that hold the answer. Written before they were asked. */
export interface RealQuestion {
  text: string;
  kind: "one" | "several" | "none";
  /** Ids of sessions, or how they begin. Of `several` two must come, of `none` there are none. */
  sessions: readonly string[];
}

const one = (text: string, ...sessions: string[]): RealQuestion => ({ text, kind: "one", sessions });
const several = (text: string, ...sessions: string[]): RealQuestion => ({ text, kind: "several", sessions });
const none = (text: string): RealQuestion => ({ text, kind: "none", sessions: [] });

const RETAGGER = "iflow:session-5de701fc";
const MANAGER = "claude-code:4c289ca8";
const HEALTH = "codex:0197-abc";
const ISSUES = "claude-code:30530d66";
const EMPTY = "claude-code:1af7fc5e";
const NOT_FOUND = "codex:01a1faa6-4511";
const LOGIN = ["pi:pi-test-session-uuid", "claude-code:agentsview:valid_session", "gemini-cli:sess-uuid-1"];
const GREETED = ["droid:", "grok:01a200d1-8772", "kilo:", "cline:", "qwen:", "continue:", "kimi:"];

export const REAL: readonly RealQuestion[] = [
  one("which docker api version must the retagger set at start", RETAGGER),
  one("where is DOCKER_API_VERSION set", RETAGGER),
  one("DOCKER_API_VERSION 1.46 环境变量在哪里设置", RETAGGER),
  one("what comment was added to ClaudeAgentManager", MANAGER),
  one("in which file is the class ClaudeAgentManager", MANAGER),
  one("how did we add the health check endpoint", HEALTH),
  one("what does /api/health return", HEALTH),
  one("why could CLAUDE.md not be written in the demo repository", EMPTY),
  one("CLAUDE.md for the github issue finder", ISSUES),
  one("find_issues.ts is empty", ISSUES),
  one("x: command not found", NOT_FOUND),
  one("which command exited with code 127", NOT_FOUND),
  one("which command ended with exit code 3", "claude-code:44444444"),
  one("how many tests passed with npm test", "goose:20260805_1"),
  one("how is the repo laid out, as the sub-agent surveyed it", "claude-code:chronicle:fixture-session"),
  one("what was the sub-agent that counts files told to do", "claude-code:33333333"),
  one("what does the README of the sample project contain", "vibe:def456ghi"),
  several("which sessions fixed the login bug", ...LOGIN),
  several("the auth module and the login", ...LOGIN),
  several("analysis of the codebase for a CLAUDE.md", ISSUES, EMPTY),
  several("where did assistants greet with hello-from-tool", ...GREETED),
  several("say hi from a sub-agent", ...GREETED, "grok:01a200d1-8f2a"),
  several("run echo hi && pwd", "claude-code:1843b3b2", "claude-code:11111111", "codex:01a1faa9", "codex:01a1faa1"),
  none("how do we rotate the kubernetes certificates"),
  none("why did the postgres migration deadlock"),
  none("which rate limit does the payment provider have"),
  none("umlauts in the pdf export of invoices"),
  none("redis cache eviction policy decision"),
  none("websocket reconnect after sleep on iOS"),
];
