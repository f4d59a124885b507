/** The program behind the installed hooks: a shell script in the data directory, so that what stands in a tool's settings never changes. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { storageFailed, writeFileAtomic } from "sessarc";

/** How long a hook waits for the service. */
export const DEADLINE_MS = 1_000;

/** Says that an answer is the guard's, and not that of whatever else listens on the port. */
export const ANSWER_TYPE = "application/json; guard=sessarc";

export const hookScript = (dataDir: string) => join(dataDir, "guard", "hook.sh");
/** Header line with the guard's token in token mode, else empty. Private, which a tool's settings need not be. */
export const hookHeader = (dataDir: string) => join(dataDir, "guard", "header");

/**
 * `hook.sh <tool> <id>`, the call on stdin. Exit 0: the service has decided, words on stdout block the call. Exit 1: it could not be
 * asked, nothing on stdout. The running service is found by its lock file. All of stdin is read before anything can fail: Codex takes
 * a hook that stops reading for a failed one. curl and nothing else, because starting Node would take as long as the call itself.
 */
const SCRIPT = `#!/bin/sh
# Written by sessarc: the assistants' hooks run it before each tool call. What it asks decides about the call.
folder=\${0%/*}
lock=$(cat "$folder/../lock.json" 2>/dev/null)
url=\${lock#*'"url": "'}
if [ "$url" = "$lock" ]; then
  cat >/dev/null
  exit 1
fi
set -- "\${url%%'"'*}api/security/pretooluse?client=$1&hook=$2"
answer=$(curl -qsf --noproxy '*' -m ${DEADLINE_MS / 1000} -w ' %{content_type}' -H 'Content-Type: application/json' -H 'Expect:' -H "@$folder/header" --data-binary @- "$1") || exit 1
case $answer in
" ${ANSWER_TYPE}" | "{} ${ANSWER_TYPE}") ;;
"{"*"} ${ANSWER_TYPE}") printf '%s\\n' "\${answer% ${ANSWER_TYPE}}" ;;
*) exit 1 ;;
esac
`;

/** Puts the script where the installed hooks look for it, and beside it the token they have to show. Without one, an earlier one stays. */
export async function writeHookScript(dataDir: string, token: string | undefined): Promise<void> {
  const [script, header] = [hookScript(dataDir), hookHeader(dataDir)];
  await mkdir(dirname(script), { recursive: true, mode: 0o700 });
  await writePrivate(script, SCRIPT);
  const line = token === undefined ? ((await readText(header)) ?? "") : `Authorization: Bearer ${token}\n`;
  await writePrivate(header, line);
}

const readText = (path: string) => readFile(path, "utf8").catch(() => undefined);

/** Whole or not at all: a hook may be reading it. */
async function writePrivate(path: string, text: string): Promise<void> {
  if ((await readText(path)) === text) return;
  await writeFileAtomic(path, text).catch(storageFailed(path));
}
