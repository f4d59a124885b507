/**
 * The plugin in each assistant's form, as data. What an assistant reads was tried with its program (Claude Code 2.1.197, Codex 0.171.0,
 * Gemini CLI 0.61.0) or is what its documentation says (Cursor, Copilot CLI).
 */
import { join } from "node:path";
import { VERSION } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { recallSkill } from "./recall.ts";

/** A word of a tool's own must not be in it: Codex adds the plugin's name to the description of each tool, by which a model searches for them. */
export const NAME = "sessarc";
/** Of the skill where it is alone. */
export const SKILL = "sessarc-recall";
/** The marketplace's name: plugins are named `<plugin>@<marketplace>`. */
const MARKETPLACE = "sessarc";
const DESCRIPTION =
  "What earlier coding sessions on this machine decided, tried and fixed, for the assistant that works now.";
export const SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

/** Contents by path, with slashes. */
export type Files = Readonly<Record<string, string>>;

/** How an assistant gets the plugin. */
export interface Form {
  files: Files;
  /** The folder that the assistant reads plugins of the user from; undefined: its own command copies it. */
  folder?: (env: AdapterEnv) => string;
  /** Commands of the assistant for the folder the files are in: to install, and to remove. */
  install?: (folder: string) => readonly string[];
  remove?: readonly string[];
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const meta = { name: NAME, version: VERSION, description: DESCRIPTION };
const skill = { "skills/recall/SKILL.md": recallSkill("recall") };
const bridge = (client: string) => ({ command: "sessarc", args: ["mcp", "--client", client] });

/** Agent Plugins 1.0: skills and servers where the specification has them, and nothing else. */
export const agentPlugin = (client?: string): Files => ({
  "plugin.json": json({
    $schema: `${SCHEMAS}/plugin.schema.json`,
    ...meta,
    author: { name: "sessarc" },
    license: "MIT",
  }),
  "mcp.json": json({
    $schema: `${SCHEMAS}/mcp.schema.json`,
    mcpServers: { sessarc: { type: "stdio", command: "sessarc", args: client ? bridge(client).args : ["mcp"] } },
  }),
  ...skill,
});

const claudePlugin: Files = {
  ".claude-plugin/plugin.json": json({ ...meta, author: { name: "sessarc" }, license: "MIT" }),
  ".mcp.json": json({ mcpServers: { sessarc: { type: "stdio", ...bridge("claude-code") } } }),
  ...skill,
};

/** The same below a folder, for a marketplace. */
const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));

const configOf = ({ env, home }: AdapterEnv, name: string, fallback: string) => env[name] || join(home, fallback);

export const FORMS: Readonly<Record<string, Form>> = {
  "claude-code": {
    files: claudePlugin,
    folder: (env) => join(configOf(env, "CLAUDE_CONFIG_DIR", ".claude"), "skills", NAME),
  },
  cursor: { files: agentPlugin("cursor"), folder: ({ home }) => join(home, ".cursor", "plugins", "local", NAME) },
  "gemini-cli": {
    files: {
      "gemini-extension.json": json({ ...meta, mcpServers: { sessarc: bridge("gemini-cli") } }),
      ...skill,
    },
    folder: ({ home }) => join(home, ".gemini", "extensions", NAME),
  },
  codex: {
    files: {
      ".agents/plugins/marketplace.json": json({
        name: MARKETPLACE,
        plugins: [
          {
            name: NAME,
            source: { source: "local", path: `./plugins/${NAME}` },
            policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
            category: "Productivity",
          },
        ],
      }),
      ...below(`plugins/${NAME}`, agentPlugin("codex")),
    },
    install: (folder) => [`codex plugin marketplace add ${quoted(folder)}`, `codex plugin add ${NAME}@${MARKETPLACE}`],
    remove: [`codex plugin remove ${NAME}@${MARKETPLACE}`, `codex plugin marketplace remove ${MARKETPLACE}`],
  },
  copilot: {
    files: {
      "plugin.json": json({ ...meta, author: { name: "sessarc" }, license: "MIT" }),
      ".mcp.json": json({ mcpServers: { sessarc: { type: "local", ...bridge("copilot"), tools: ["*"] } } }),
      ...skill,
    },
    install: (folder) => [`copilot plugin install ${quoted(folder)}`],
    remove: [`copilot plugin uninstall ${NAME}`],
  },
};

/** What `build` can write: one assistant's form, the portable one, or Claude Code's marketplace of one plugin. */
export const BUILDS: Readonly<Record<string, Files>> = {
  "agent-plugin": agentPlugin(),
  "claude-marketplace": {
    ".claude-plugin/marketplace.json": json({
      name: MARKETPLACE,
      description: DESCRIPTION,
      owner: { name: "sessarc" },
      plugins: [{ name: NAME, source: `./plugins/${NAME}`, description: DESCRIPTION }],
    }),
    ...below(`plugins/${NAME}`, claudePlugin),
  },
  ...Object.fromEntries(Object.entries(FORMS).map(([tool, { files }]) => [tool, files])),
};

/** An assistant without plugins of this kind: the skill alone, in its folder of skills. */
export const skillAlone: Files = { "SKILL.md": recallSkill(SKILL) };

const quoted = (path: string) => (/^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
