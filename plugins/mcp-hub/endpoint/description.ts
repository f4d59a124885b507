/** How the hub describes itself to clients of every protocol version. */

export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
} as const;

export const INSTRUCTIONS =
  "Tools and prompts of several services; each is named <service>__<name>. Those of `sessarc` search and read the archive of this machine's coding sessions.";

/** What the hub answers itself. The rest is the SDKs': handshakes, discovery, streams of changes, and unknown methods. */
export const METHODS: ReadonlySet<string> = new Set([
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
]);
