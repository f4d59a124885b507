/** Every command of the product, as tests call them that hold for all: what is printed, what is written, what fails. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Ways to call each command that end without being stopped and ask the user nothing. `last` is the newest session. */
export const EVERY: Readonly<Record<string, readonly (readonly string[])[]>> = {
  serve: [],
  // These start and end a service of this machine's user: their own tests have them.
  start: [],
  stop: [],
  restart: [],
  status: [["status"]],
  logs: [["logs"]],
  plugins: [["plugins"]],
  doctor: [["doctor"], ["doctor", "--fix"], ["doctor", "--all"]],
  completion: [["completion", "bash"]],
  manual: [["manual"]],
  import: [["import"], ["import", "--file", "bad.jsonl"]],
  sessions: [["sessions"], ["sessions", "--subagents"]],
  projects: [["projects"], ["projects", "--git"]],
  usage: [
    ...["daily", "weekly", "monthly", "session", "model", "project"].map((by) => ["usage", by]),
    ["usage", "blocks"],
    ["usage", "--stateless"],
  ],
  search: [
    ["search", "owned"],
    ["search", "is:error"],
  ],
  show: [["show", "last"]],
  backup: [["backup", "backup.tar"]],
  vacuum: [["vacuum", "--dry-run"]],
  prices: [["prices"]],
  budget: [["budget"]],
  health: [["health"], ["health", "last"]],
  report: [["report"]],
  mark: [
    ["mark", "note", "set", "last", "seen"],
    ["mark"],
    ["mark", "tag", "last", "a"],
    ["mark", "tag"],
    ["mark", "bookmark", "last"],
    ["mark", "search", "save", "mine", "owned"],
    ["mark", "search"],
    ["mark", "search", "run", "mine"],
  ],
  note: [["note", "set", "last", "seen"], ["note"]],
  tag: [["tag", "last", "a"], ["tag"]],
  bookmark: [["bookmark", "last"]],
  searches: [["searches", "save", "mine", "owned"], ["searches"], ["searches", "run", "mine"]],
  statusline: [["statusline", "--status"]],
  waiting: [["waiting"]],
  blame: [["blame", "a.ts"]],
  receipt: [
    ["receipt", "HEAD"],
    ["receipt", "--notes", "HEAD"],
  ],
  verify: [["verify", "HEAD"]],
  notes: [["notes", "write", "HEAD"]],
  reclaim: [["reclaim"]],
  scrub: [["scrub"]],
  rules: [["rules"]],
  undelete: [["undelete", "a.ts", "--list"]],
  guard: [
    ["guard", "status"],
    ["guard", "install", "--dry-run"],
  ],
  recall: [
    ["recall", "owned"],
    ["recall", "--file", "a.ts"],
    ["recall", "--command", "npm test"],
    ["recall", "log"],
    ["recall", "install", "--dry-run"],
  ],
  export: [["export", "last"], ...["md", "html", "json"].map((format) => ["export", "last", "--format", format])],
  rescue: [["rescue"], ["rescue", "last"]],
  resume: [["resume", "last", "--print"]],
  handoff: [["handoff", "last"]],
  mcp: [
    ["mcp", "list"],
    ["mcp", "configs"],
    ["mcp", "doctor"],
    ["mcp", "import", "--dry-run"],
  ],
  "agent-plugin": [["agent-plugin"], ["agent-plugin", "install", "--tool", "claude-code", "--dry-run"]],
  skills: [
    ["skills", "list"],
    ["skills", "scan"],
    ["skills", "import", "skill"],
    ["skills", "import", "skill", "--dry-run"],
  ],
  replay: [
    ["replay", "last", "--plan"],
    ["replay", "last"],
  ],
  team: [["team", "status"], ["team"]],
  push: [["push", "--dry-run"]],
  demo: [["demo", "sample"]],
};

export async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
