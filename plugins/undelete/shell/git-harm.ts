/** What a git command destroys: changes of files, untracked files, names of commits. */
import type { Kind, ShellWord } from "./words.ts";

export interface GitHarm {
  add(how: string, word: ShellWord, kinds: readonly Kind[], more?: { isGone?: boolean; isWide?: boolean }): void;
  names(how: string, folder: ShellWord): void;
}

const CHANGED: readonly Kind[] = ["changed"];
const ALL: readonly Kind[] = ["all"];
const WIDE = { isWide: true };

/** `words`: those after `git`. git works on the whole repository, wherever it is started: the caller widens the folder to its top. */
export function readGitHarm(words: readonly ShellWord[], { add, names }: GitHarm): void {
  const here: ShellWord = { text: ".", isPlain: true, isPattern: false };
  let i = 0;
  let folder = here;
  for (; words[i]?.text.startsWith("-"); i++) {
    if (words[i]?.text === "-C") folder = words[i + 1] ?? here;
    if (words[i]?.text === "-C" || words[i]?.text === "-c") i++;
  }
  const verb = words[i]?.text ?? "";
  const rest = words.slice(i + 1);
  const has = (pattern: RegExp) => rest.some(({ text }) => pattern.test(text));
  const below = (word: ShellWord): ShellWord =>
    folder === here || word.text.startsWith("/") ? word : { ...word, text: `${folder.text}/${word.text}` };
  const dashes = rest.findIndex(({ text }) => text === "--");
  const paths = rest.filter(({ text }, n) => (dashes >= 0 && n > dashes) || !text.startsWith("-")).map(below);
  // Files that are in the way of another commit are overwritten.
  const inTheWay: readonly Kind[] = paths.some(({ text }) => text !== "HEAD") ? ["changed", "untracked"] : CHANGED;
  switch (verb) {
    case "clean": {
      if (!has(/^-[a-zA-Z]*f|^--force$/) || has(/^-[a-zA-Z]*n|^--dry-run$/)) return;
      const kinds: Kind[] = has(/^-[a-zA-Z]*X/)
        ? ["ignored"]
        : has(/^-[a-zA-Z]*x/)
          ? ["untracked", "ignored"]
          : ["untracked"];
      for (const word of paths.length > 0 ? paths : [folder]) add("git clean", word, kinds);
      return;
    }
    case "reset":
      if (has(/^--(?:hard|merge|keep)$/)) add("git reset --hard", folder, inTheWay, WIDE);
      return;
    case "checkout":
    case "switch":
      if (has(/^(?:-f|--force|--discard-changes)$/)) add(`git ${verb}`, folder, inTheWay, WIDE);
      // A name without a path has no changes.
      else if (verb === "checkout") for (const word of paths) add("git checkout", word, CHANGED);
      return;
    case "restore":
      if (!has(/^(?:-S|--staged)$/) || has(/^(?:-W|--worktree|-[SW]{2})$/))
        for (const word of paths) add("git restore", word, CHANGED);
      return;
    case "checkout-index":
    case "read-tree":
      if (has(/^(?:-[a-z]*[fu]|--force|--reset)/)) add(`git ${verb}`, folder, inTheWay, WIDE);
      return;
    case "rm":
      if (!has(/^--cached$/)) for (const word of paths) add("git rm", word, CHANGED, { isGone: true });
      return;
    case "stash":
      if (!/^(?:drop|clear)$/.test(rest[0]?.text ?? "")) return;
      // What `git stash && git stash drop` loses is no stash yet.
      add("git stash drop", folder, ["changed", "untracked"], WIDE);
      names(`git stash ${rest[0]?.text}`, folder);
      return;
    case "worktree":
      if (rest[0]?.text === "remove")
        for (const word of paths.slice(1)) add("git worktree remove", word, ALL, { isGone: true });
      return;
    case "branch":
      if (has(/^(?:-[a-zA-Z]*[DdMf]|--delete|--force)$/)) names("git branch", folder);
      return;
    case "tag":
      if (has(/^(?:-d|--delete|-f|--force)$/)) names("git tag", folder);
      return;
    case "push":
      if (has(/^(?:-[a-zA-Z]*[fd]|--force.*|--delete|--mirror|--prune|\+.+|:.+)$/)) names("git push --force", folder);
      return;
    case "rebase":
    case "update-ref":
    case "filter-branch":
      names(`git ${verb}`, folder);
      return;
  }
}
