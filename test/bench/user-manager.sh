#!/usr/bin/env bash
# test/bench/user-manager.sh: the login entry under a real user manager of systemd, in namespaces of its own. Needs root, systemd, dbus-run-session,
# unshare and a built dist/. Prints each step; exits 1 when one of them is wrong.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
if [ "${1:-}" = "" ]; then exec unshare -m -p -f -C --mount-proc bash "$0" outer; fi
if [ "$1" = outer ]; then
  mount -t tmpfs tmpfs /run
  mkdir -p /run/systemd/system /run/user/0 /run/dbus
  chmod 700 /run/user/0
  mount -t cgroup2 none /sys/fs/cgroup
  export XDG_RUNTIME_DIR=/run/user/0 HOME=/run/home
  mkdir -p "$HOME"
  exec dbus-run-session -- bash "$0" inner
fi
/usr/lib/systemd/systemd --user --log-target=null & manager=$!
trap 'kill $manager' EXIT
for _ in $(seq 40); do systemctl --user show-environment >/dev/null 2>&1 && break; sleep 0.25; done
unit=sessarc.service
sessarc() { node "$here/dist/cli.mjs" "$@"; }
state() { systemctl --user show $unit -p ActiveState -p SubState -p UnitFileState --value | tr '\n' ' '; }
expect() { # what, command, a regular expression that it prints within ten seconds
  for _ in $(seq 40); do said=$(eval "$2" 2>&1 || true); if grep -qE "$3" <<<"$said"; then echo "ok    $1: $(tail -1 <<<"$said")"; return; fi; sleep 0.25; done
  echo "wrong $1: $said"; exit 1
}
row() { printf '{"type":"user","uuid":"u%s","timestamp":"2026-11-28T10:00:00Z","cwd":"/w/app","message":{"role":"user","content":"word%s"}}\n' "$1" "$1" >"$HOME/.claude/projects/-w-app/aaaaaaaa-0000-4000-8000-00000000000$1.jsonl"; }
mkdir -p "$HOME/.claude/projects/-w-app"; row 1
expect "start --at-login" "sessarc start --at-login --port 0" "runs at"
expect "the unit is enabled and runs" state "active running enabled"
expect "systemd accepts it" "systemd-analyze --user verify $HOME/.config/systemd/user/$unit && echo accepted" "^accepted$"
expect "it follows the logs" "sessarc sessions --json" '"total":1'
kill -9 "$(sessarc status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')"
expect "a killed service is started again by its supervisor" "sessarc status" "restarted .*signal SIGKILL"
kill -9 "$(systemctl --user show $unit -p MainPID --value)"
expect "a killed supervisor is started again by systemd, after a minute" state "activating auto-restart"
systemctl --user stop $unit; row 2; systemctl --user start $unit
expect "started as at login, it has what was written meanwhile" "sessarc sessions --json" '"total":2'
expect "stop" "sessarc stop" "^Stopped$"
expect "the unit ended in order" state "inactive dead enabled"
expect "stop --at-login" "sessarc stop --at-login" "No longer starts at login"
expect "nothing is left" "find $HOME/.config -type f 2>/dev/null | wc -l" "^0$"
