/** How the hub describes itself to clients of every protocol version. */

import type { View } from "../hub/view.ts";
import { GET, LIST, READ_DIRECTORY, SKILLS } from "../skills/uris.ts";

export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
} as const;

/** With the skills extension for a client that declares it. */
export const toCapabilities = ({ skills }: View) =>
  skills ? { ...CAPABILITIES, extensions: { [SKILLS]: { directoryRead: true } } } : CAPABILITIES;

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

/** And the skills extension's, for a client that declares it. */
export const SKILL_METHODS: ReadonlySet<string> = new Set([LIST, GET, READ_DIRECTORY]);
