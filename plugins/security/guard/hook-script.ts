/** The program behind the installed hooks: a shell script in the data directory, so that what stands in a tool's settings never changes. */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Storage } from "sessarc";
import { storageFailed, writeFileAtomic } from "#internal";

/** How long a hook waits for the service. */
export const DEADLINE_MS = 1_000;

/** Says that an answer is the guard's, and not that of whatever else listens on the port. A proof follows where a nonce was sent. */
export const ANSWER_TYPE = "application/json; guard=sessarc";

/** Where the guard keeps its program, and how the service that runs is found. */
export const placesOf = ({ path }: Pick<Storage, "path">) => ({ folder: path("guard"), lock: path("lock.json") });

/** `folder` is the guard's own in the data directory; the lock file stands in the one around it. */
export const hookScript = (folder: string) => join(folder, "hook.sh");
/** Header line with the guard's token in token mode, else empty. Private, which a tool's settings need not be. */
export const hookHeader = (folder: string) => join(folder, "header");
/** What the hook and the service both know, and nobody else: who listens on the port has to show that it knows it. */
export const hookKey = (folder: string) => join(folder, "key");

/** Shows who knows the key: of a nonce, the port that was asked and a text. As SHA-256 alone, since a shell has no HMAC: the key stands on both ends. */
export const proofOf = (key: string, nonce: string, port: number, text: string): string =>
  createHash("sha256").update(`${key}:${nonce}:${port}:${text}:${key}`).digest("hex");

/** What the service proves before it is told anything. */
export const HELLO = "sessarc";

/**
 * `hook.sh <tool> <id>`, the call on stdin. Exit 0: the service has decided, words on stdout block the call. Exit 1: it could not be
 * asked, nothing on stdout. The running service is found by its lock file. A lock that a crash left may lead to another program's port: its
 * process has to live, and to prove that it knows the key, before it gets the call; its answer is signed with the same key. All of stdin is read
 * before anything can fail: Codex takes a hook that stops reading for a failed one. Small programs and curl, because starting Node would
 * take as long as the call itself.
 */
const SCRIPT = `#!/bin/sh
# Written by sessarc: the assistants' hooks run it before each tool call. What it asks decides about the call.
folder=\${0%/*}
down() {
  cat >/dev/null
  exit 1
}
ask() {
  curl -qsf --noproxy '*' -m ${DEADLINE_MS / 1000} "$@"
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
answer=$(ask -w ' %{content_type}' -H 'Content-Type: application/json' -H 'Expect:' -H "sessarc-nonce: $nonce" -H "@$folder/header" --data-binary @- "\${url}api/security/pretooluse?client=$1&hook=$2") || exit 1
text=\${answer% ${ANSWER_TYPE}; proof=*}
[ "$text" != "$answer" ] && [ "\${answer##*; proof=}" = "$(proof "$text")" ] || exit 1
case $text in
"" | "{}") ;;
"{"*"}") printf '%s\\n' "$text" ;;
*) exit 1 ;;
esac
`;

/** Puts the script where the installed hooks look for it, and beside it key and token. Without a token, an earlier one stays. */
export async function writeHookScript(folder: string, token: string | undefined): Promise<void> {
  const [script, header, key] = [hookScript(folder), hookHeader(folder), hookKey(folder)];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writePrivate(key, (await readText(key)) ?? randomBytes(32).toString("hex"));
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
