/**
 * Ends the process groups we started when we are gone ourselves, killed included. A small shell reads what we write; its input ends
 * when we do, by whatever way, and then it kills the groups that are left.
 */
import { type ChildProcess, spawn } from "node:child_process";

const SCRIPT = `groups=
while read -r op pid; do
  case $op in
    +) groups="$groups $pid" ;;
    -) rest=
       for g in $groups; do [ "$g" = "$pid" ] || rest="$rest $g"; done
       groups=$rest ;;
  esac
done
[ -z "$groups" ] && exit 0
for g in $groups; do kill -s TERM -- "-$g" 2>/dev/null; done
sleep 1
for g in $groups; do kill -s KILL -- "-$g" 2>/dev/null; done`;

export interface Watchdog {
  /** From now on the group of this process dies with us. */
  add(pid: number): void;
  /** It has ended. */
  remove(pid: number): void;
  close(): void;
}

/** Starts nothing until the first process is added. On Windows there are no groups, and it does nothing. */
export function createWatchdog(platform: NodeJS.Platform): Watchdog {
  const groups = new Set<number>();
  let shell: ChildProcess | undefined;

  const write = (line: string) => shell?.stdin?.write(line);

  function start(): void {
    // A group of its own: Ctrl-C in our terminal must not reach it before us.
    const child = spawn("/bin/sh", ["-c", SCRIPT], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      env: { PATH: "/usr/bin:/bin" },
    });
    // Without a shell the groups are still ended by an orderly close.
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.once("exit", () => {
      if (shell === child) shell = undefined;
    });
    child.unref();
    shell = child;
    for (const pid of groups) write(`+ ${pid}\n`);
  }

  return {
    add(pid) {
      if (platform === "win32") return;
      groups.add(pid);
      if (shell) write(`+ ${pid}\n`);
      else start();
    },
    remove(pid) {
      if (groups.delete(pid)) write(`- ${pid}\n`);
    },
    close() {
      for (const pid of groups) write(`- ${pid}\n`);
      groups.clear();
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
