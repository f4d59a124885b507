/** Random histories of files in a real repository: two sessions of Claude Code, a person, git; with what each message could know. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { iso, makeRepo, T0, tempFolder } from "../git/_repo.ts";
import { createLog, shown } from "./_log.ts";

/** What one message or commit saw, and how many lines of it can be known. */
export interface Moment {
  path: string;
  at: string;
  source: string;
  /** The bytes at that time. */
  truth: string;
  /** Lines that the message proves, by their number. */
  known: boolean[];
}

export interface History {
  home: string;
  root: string;
  moments: Moment[];
  /** The content of each file after each second; null: it was not there. */
  truthAt(path: string, at: string): string | null;
}

function createRandom(seed: number) {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    chance: (p: number) => next() < p,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
  };
}

const NAMES = ["a.ts", "src/b.ts", "src/deep/c d.txt", "notes.md"];
const WORDS = ["let", "x", "return", "// ", "}", "", "foo(bar)", "aaa", "aa", "é", "\t", "<system-reminder>", "12\tz"];

export function makeHistory(seed: number, logsStay: boolean): History {
  const random = createRandom(seed);
  const home = tempFolder();
  const repo = makeRepo(join(tempFolder(), "project"));
  const { root } = repo;
  const hasBefore = seed % 3 === 1;
  const hasCopies = seed % 2 === 0;
  const logs = ["a", "b"].map((one) => createLog({ home, root, key: `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${one}` }));
  const moments: Moment[] = [];
  const disk = new Map<string, string>();
  const past = new Map<string, { at: number; text: string | null }[]>();
  /** What each session last saw of a file, and which of its lines it can prove. */
  const seen = logs.map(() => new Map<string, { text: string; known: boolean[] }>());
  let now = T0;
  const full = (path: string) => join(root, path);
  const line = () => Array.from({ length: 1 + random.below(4) }, () => random.pick(WORDS)).join(" ");
  const text = () => Array.from({ length: random.below(14) }, line).join("\n") + (random.chance(0.8) ? "\n" : "");
  /** A person changes one line. */
  const touched = (content: string) => {
    const lines = content.split("\n");
    lines[random.below(lines.length)] = line();
    return lines.join("\n");
  };
  const all = (content: string) => content.split("\n").map(() => true);

  const put = (path: string, content: string | null) => {
    if (content === null) {
      disk.delete(path);
      rmSync(full(path), { force: true });
    } else {
      disk.set(path, content);
      mkdirSync(dirname(full(path)), { recursive: true });
      writeFileSync(full(path), content);
    }
    past.set(path, [...(past.get(path) ?? []), { at: now, text: content }]);
  };
  const reread = () => {
    for (const path of NAMES) {
      let content: string | null = null;
      try {
        content = readFileSync(full(path), "utf8");
      } catch {}
      if (content !== (disk.get(path) ?? null)) put(path, content);
    }
  };
  const moment = (path: string, source: string, known: boolean[]) =>
    moments.push({ path: full(path), at: iso(now), source, truth: disk.get(path) ?? "", known });
  const copy = (who: number, path: string) => {
    const content = disk.get(path);
    const log = logs[who];
    if (!hasCopies || !log || content === undefined) return;
    const name = `${seed}${now}abcdef@v1`;
    mkdirSync(log.copies, { recursive: true });
    writeFileSync(join(log.copies, name), content);
    log.snapshot(now, path, name);
    if (logsStay) moment(path, "copy", all(content));
    now++;
  };

  for (const [i, log] of logs.entries()) log.prompt(now, `Go ${i}`);
  for (const path of NAMES.slice(0, 3)) put(path, text());
  now++;
  repo.commit("first", now);
  for (const path of disk.keys()) moment(path, "commit", all(disk.get(path) ?? ""));

  for (let step = 0; step < 40; step++) {
    now += 2;
    const who = random.below(2);
    const log = logs[who];
    const mine = seen[who];
    const path = random.pick(NAMES);
    const content = disk.get(path);
    if (!log || !mine) continue;
    const action = random.below(20);
    if (action < 4 && content !== undefined && content !== "") {
      log.call(now, "Read", { file_path: full(path) }, shown(content));
      mine.set(path, { text: content, known: all(content) });
      moment(path, "read", all(content));
    } else if (action < 7 && content !== undefined && content.split("\n").length > 3) {
      const lines = content.split("\n");
      const offset = 1 + random.below(lines.length - 2);
      const limit = 1 + random.below(lines.length);
      log.call(now, "Read", { file_path: full(path), offset, limit }, shown(content, offset, limit));
      const known = lines.map((_, i) => i >= offset - 1 && i < offset - 1 + limit);
      mine.set(path, { text: content, known });
      moment(path, "read", known);
    } else if (action < 10) {
      const written = text();
      copy(who, path);
      const result = { type: content === undefined ? "create" : "update", filePath: full(path), content: written };
      put(path, written);
      log.call(now, "Write", { file_path: full(path), content: written }, "The file was written.", {
        result: { ...result, originalFile: null },
      });
      mine.set(path, { text: written, known: all(written) });
      moment(path, "write", all(written));
    } else if (action < 15 && content !== undefined) edit(who, path, content);
    else if (action === 15) put(path, content === undefined || random.chance(0.3) ? text() : touched(content));
    else if (action === 16 && content !== undefined) {
      put(path, null);
      log.call(now, "Bash", { command: `rm '${path}'` }, "");
    } else if (action === 17) {
      repo.commit(`c${step}`, now);
      for (const [name, one] of disk) moment(name, "commit", all(one));
    } else if (action === 18) {
      const command = random.pick(["git reset -q --hard", "git checkout -q -- .", "git clean -fdq"]);
      repo.git(...command.split(" ").slice(1));
      reread();
      log.call(now, "Bash", { command }, "");
    } else if (action === 19 && content !== undefined) {
      const to = random.pick(NAMES.filter((one) => one !== path));
      mkdirSync(dirname(full(to)), { recursive: true });
      renameSync(full(path), full(to));
      put(path, null);
      put(to, content);
      log.call(now, "Bash", { command: `mv '${path}' '${to}'` }, "");
    }
  }

  function edit(who: number, path: string, content: string): void {
    const [log, mine] = [logs[who], seen[who]];
    const view = mine?.get(path);
    if (!log || !mine || !view) return;
    // Often across the border between lines that the session saw and lines that it did not.
    const border = view.known.findIndex((one, i) => i > 0 && one !== view.known[i - 1]);
    const near = content.split("\n").slice(0, Math.max(0, border)).join("\n").length - random.below(6);
    const from = border > 0 && random.chance(0.5) ? Math.max(0, near) : random.below(content.length + 1);
    const old = content.slice(from, from + 1 + random.below(12));
    const hits = old === "" ? 0 : content.split(old).length - 1;
    const isForAll = hits > 1;
    const next = random.chance(0.3) ? "" : `${random.pick(WORDS)}${random.chance(0.4) ? "\n" : ""}${line()}`;
    const input = { file_path: full(path), old_string: old, new_string: next, ...(isForAll && { replace_all: true }) };
    if (hits === 0 || old === next) return;
    if (view.text !== content) {
      // It refuses, unless it noticed the change before: then it has read the file again.
      if (random.chance(0.5)) {
        log.call(now, "Edit", input, "File has been modified since read, either by the user or by a linter.", {
          failed: true,
        });
        return;
      }
      log.attachment(now, { type: "edited_text_file", filename: full(path), snippet: shown(content).slice(0, 40) });
      view.known = content.split("\n").map(() => false);
      now++;
    }
    copy(who, path);
    const after = content.split(old).join(next);
    put(path, after);
    log.call(now, "Edit", input, "The file has been updated.", {
      result: {
        ...{ filePath: full(path), oldString: old, newString: next, replaceAll: isForAll, userModified: false },
        ...(hasBefore && { originalFile: content }),
      },
    });
    const known =
      hasBefore && logsStay
        ? all(after)
        : logsStay
          ? through(content, view.known, old, next)
          : all(after).map(() => false);
    mine.set(path, { text: after, known: hasBefore && logsStay ? all(after) : known });
    moment(path, "edit", known);
  }

  repo.commit("last", ++now + 1);
  now++;
  for (const [name, one] of disk) moment(name, "commit", all(one));
  for (const log of logs) log.write();
  const truthAt = (path: string, at: string) => {
    const ms = Date.parse(at);
    return (
      past
        .get(path.slice(root.length + 1))
        ?.filter((one) => one.at * 1000 <= ms)
        .at(-1)?.text ?? null
    );
  };
  return { home, root, moments, truthAt };
}

/** Which lines are known after a replacement, character by character: a line is, if all that it is made of was. */
function through(content: string, known: boolean[], old: string, next: string): boolean[] {
  const lineOf: number[] = [];
  let line = 0;
  for (const char of content) for (let i = 0; i < char.length; i++) lineOf.push(char === "\n" ? line++ : line);
  const marks: boolean[] = [];
  const after: string[] = [];
  for (let i = 0; i < content.length; ) {
    const isHit = content.startsWith(old, i);
    const length = isHit ? old.length : 1;
    let isKnown = true;
    for (let j = i; j < i + length; j++) isKnown &&= known[lineOf[j] ?? 0] === true;
    for (const unit of (isHit ? next : (content[i] ?? "")).split("")) {
      after.push(unit);
      marks.push(isKnown);
    }
    i += length;
  }
  const result: boolean[] = [];
  let isKnown = true;
  for (const [i, unit] of after.entries()) {
    isKnown &&= marks[i] === true;
    if (unit !== "\n") continue;
    result.push(isKnown);
    isKnown = true;
  }
  result.push(isKnown && known.at(-1) === true);
  return result;
}
