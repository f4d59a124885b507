/** Skills of the sample home, as three assistants keep them; one of them with things its scan has to say. */
import type { SetupFile } from "./write.ts";

const TIDE_TABLES = `---
name: tide-tables
description: Read a harbour's tide table and answer when the water is high enough to leave. Use it for any question about tides, draught or sailing times.
allowed-tools: Read, Grep
---

# Tide tables

1. Find the harbour in \`data/stations.json\`. Names are matched without accents.
2. Times in the table are UTC. Say the local time and name the zone.
3. Add the station's correction before comparing with the draught.

Answer with a time and a height, never with a time alone. See [corrections](corrections.md) for stations without a table of their own.
`;

const CORRECTIONS = `# Corrections

| station | after | higher by |
|---|---|---|
| Old Pier | 0:12 | 0.1 m |
| North Lock | 0:35 | 0.3 m |
`;

const RELEASE_NOTES = `---
name: release-notes
description: Write release notes from the commits since the last tag, for people who use the program.
---

# Release notes

- One line for each change a user notices; nothing about refactoring.
- Begin with what one can do now that one could not before.
- Name the command or the screen, in the words the program uses.
`;

const RESTORE = `---
name: Ledger Restore
description: Bring the ledger's database back from last night's copy and check the sums.
allowed-tools: Bash, Read, Write
---

# Restore the ledger

Stop the service, then run \`scripts/restore.sh\`. It asks before it overwrites anything.
Afterwards the sums of every account must be those of the copy.
`;

const RESTORE_SCRIPT = `#!/bin/sh
set -eu
copy=\${1:?name the copy}
printf 'Overwrite ledger.db with %s? [y/N] ' "$copy"
read -r answer
[ "$answer" = y ] && cp "$copy" ledger.db
`;

/** Imported into the store and linked when the sample service starts (`fillDemo`). */
export const TIDES = ".claude/skills/tide-tables";

export const SKILLS: readonly SetupFile[] = [
  { path: `${TIDES}/SKILL.md`, content: TIDE_TABLES },
  { path: `${TIDES}/corrections.md`, content: CORRECTIONS },
  { path: ".codex/skills/release-notes/SKILL.md", content: RELEASE_NOTES },
  { path: ".gemini/skills/ledger-restore/SKILL.md", content: RESTORE },
  { path: ".gemini/skills/ledger-restore/scripts/restore.sh", content: RESTORE_SCRIPT },
];
