/** The shell script that installed hooks run. It is in the data directory so that the command in the settings never changes. */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Storage, storageFailed } from "sessarc";
import { writeFileAtomic } from "sessarc/files";
import { waitingProgram } from "./waiting-script.ts";

/** Time a hook waits for the service. */
export const DEADLINE_MS = 1_000;

/** The same for a hook that only asks what is offered to the model. */
export const OFFER_DEADLINE_MS = 500;

/** What a hook asks where it does not ask the guard: what is offered at a session's start, and with a call. */
export type HookEvent = "start" | "call";

/** Content type that marks an answer as the guard's. A proof follows if the request had a nonce. */
export const ANSWER_TYPE = "application/json; guard=sessarc";

/** The guard's folder and the lock file with the address of the running service. */
export const toPlaces = ({ path }: Pick<Storage, "path">) => ({ folder: path("guard"), lock: path("lock.json") });

/** `folder` is the guard's folder in the data directory. */
export const hookScript = (folder: string) => join(folder, "hook.sh");
/** The program of the hooks that report that an assistant waits: `waiting.cjs <tool> <reports>`. */
export const waitingScript = (folder: string) => join(folder, "waiting.cjs");
/** Header line with the guard's token in token mode, otherwise empty. This file is private; an assistant's settings may not be. */
export const hookHeader = (folder: string) => join(folder, "header");
/** Secret that only the hook and the service know. The program that listens on the port has to prove that it knows it. */
export const hookKey = (folder: string) => join(folder, "key");

/** Proves knowledge of the key for a nonce, a port and a text. A shell has no HMAC, so the key encloses the SHA-256 input. */
export const toProof = (key: string, nonce: string, port: number, text: string): string =>
  createHash("sha256").update(`${key}:${nonce}:${port}:${text}:${key}`).digest("hex");

/** Text that the service signs before the hook sends the call. */
export const HELLO = "sessarc";

/**
 * `hook.sh <tool> <id> [event]`, with the call on stdin. Exit 0: the service decided, and output blocks the call. Exit 1: the service did not
 * answer. The lock file has the service's address. After a crash, another program may have that port: the process
 * must be alive and prove that it knows the key before it gets the call; its answer is signed with the key. All of stdin is read
 * before anything can fail, because an assistant may treat a hook that stops reading as failed. The script uses curl, because starting Node would
 * take as long as the call itself.
 */
const SCRIPT = `#!/bin/sh
# Written by sessarc: the assistants' hooks run it before each tool call. It asks the service, which decides about the call.
folder=\${0%/*}
down() {
  cat >/dev/null
  exit 1
}
seconds=${DEADLINE_MS / 1000}
[ -z "$3" ] || seconds=${OFFER_DEADLINE_MS / 1000}
ask() {
  curl -qsf --noproxy '*' -m "$seconds" "$@"
}
if command -v sha256sum >/dev/null 2>&1; then sum() { sha256sum; }
elif command -v openssl >/dev/null 2>&1; then sum() { openssl dgst -sha256 -r; }
else sum() { shasum -a 256; }
fi
proof() {
  digest=$(printf '%s' "$key:$nonce:$port:$1:$key" | sum)
  printf '%s' "\${digest%% *}"
}
lock=$(cat "$folder/../lock.json" 2>/dev/null)
key=$(cat "$folder/key" 2>/dev/null)
url=\${lock#*'"url": "'}
pid=\${lock#*'"pid": '}
[ "$url" != "$lock" ] && [ "$pid" != "$lock" ] && [ -n "$key" ] || down
url=\${url%%'"'*}
pid=\${pid%%[!0-9]*}
port=\${url%/}
port=\${port##*:}
kill -0 "$pid" 2>/dev/null || down
nonce=$(od -An -N16 -tx1 /dev/urandom)
nonce=$(printf '%s' $nonce)
[ "$(ask "\${url}api/security/proof?nonce=$nonce")" = "$(proof ${HELLO})" ] || down
answer=$(ask -w ' %{content_type}' -H 'Content-Type: application/json' -H 'Expect:' -H "sessarc-nonce: $nonce" -H "@$folder/header" --data-binary @- "\${url}api/security/pretooluse?client=$1&hook=$2\${3:+&event=$3}") || exit 1
text=\${answer% ${ANSWER_TYPE}; proof=*}
[ "$text" != "$answer" ] && [ "\${answer##*; proof=}" = "$(proof "$text")" ] || exit 1
case $text in
"" | "{}") ;;
"{"*"}") printf '%s\\n' "$text" ;;
*) exit 1 ;;
esac
`;

/** Writes scripts, key and token. Without `token`, an earlier token is retained. */
export async function writeHookScript(folder: string, token: string | undefined): Promise<void> {
  const [script, header, key] = [hookScript(folder), hookHeader(folder), hookKey(folder)];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writePrivate(key, (await readText(key)) ?? randomBytes(32).toString("hex"));
  await writePrivate(script, SCRIPT);
  await writePrivate(waitingScript(folder), waitingProgram(HELLO));
  const line = token === undefined ? ((await readText(header)) ?? "") : `Authorization: Bearer ${token}\n`;
  await writePrivate(header, line);
}

const readText = (path: string) => readFile(path, "utf8").catch(() => undefined);

/** Replaces the file atomically, because a hook may be reading it. */
async function writePrivate(path: string, text: string): Promise<void> {
  if ((await readText(path)) === text) return;
  await writeFileAtomic(path, text).catch(storageFailed(path));
}
