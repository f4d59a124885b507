/** Random histories, fed to `git fast-import`, and what plain git says about them. */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { type Repo, repoAt, T0, testEnv } from "./_repo.ts";

/** Names as latin1 bytes: options, patterns, shell text, control characters, and bytes that are no UTF-8. */
export const NAMES = [
  "a.txt",
  "src/main.ts",
  "src/lib/util.ts",
  "src/lib",
  "b c/d e.md",
  "-dash",
  "--output=x",
  "$(touch pwned)",
  "new\nline",
  "tab\there",
  "*.glob",
  ":(top)magic",
  'quo"te\\back',
  "%41.txt",
  "A.txt",
  Buffer.from("ünï/çødé.txt").toString("latin1"),
  Buffer.from("日本.txt").toString("latin1"),
  "caf\xe9.txt",
  "caf\xe8.txt",
  "\xff\xfe/x",
];

export const history = fc.array(
  fc.record({
    branch: fc.nat(2),
    /** Branches merged into it: none, one, or two (an octopus). */
    merge: fc.oneof(
      { weight: 6, arbitrary: fc.constant<number[]>([]) },
      { weight: 2, arbitrary: fc.array(fc.nat(2), { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.constant<number[]>([0, 1, 2]) },
    ),
    /** A commit without parents; a later merge makes it part of the history. */
    root: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    /** Seconds to the commit before; clocks go backwards at times, and some commits share a second. */
    step: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: -90, max: 600 }) },
      { weight: 1, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -100_000, max: 100_000 }) },
    ),
    edits: fc.array(
      fc.record({
        kind: fc.constantFrom(
          "write",
          "edit",
          "edit",
          "delete",
          "rename",
          "rename",
          "mode",
          "link",
          "module",
          "binary",
        ),
        name: fc.nat(NAMES.length - 1),
        to: fc.nat(NAMES.length - 1),
        seed: fc.nat(1000),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 3, maxLength: 14 },
);

type Commits = typeof history extends fc.Arbitrary<infer T> ? T : never;
interface Entry {
  mode: string;
  data: Buffer;
}
type Tree = Map<string, Entry>;

export interface Shape {
  format?: "sha1" | "sha256";
  /** Everything in packs, references included. */
  packed?: boolean;
}

/** Builds the history in a bare repository whose HEAD is the last commit. */
export function importHistory(commits: Commits, root: string, { format = "sha1", packed = false }: Shape = {}): Repo {
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", `--object-format=${format}`, root], { env: testEnv() });
  const tips: ({ mark: number; tree: Tree } | undefined)[] = [];
  const stream: Buffer[] = [];
  const put = (text: string) => stream.push(Buffer.from(text, "latin1"));
  let time = T0;
  commits.forEach((commit, index) => {
    const mark = index + 1;
    const base = commit.root ? undefined : (tips[commit.branch] ?? tips.find(Boolean));
    const merged = new Set(base ? commit.merge.map((branch) => tips[branch]) : []);
    merged.delete(base);
    const others = [...merged].filter((tip) => tip !== undefined);
    const tree: Tree = new Map(base?.tree);
    for (const other of others)
      for (const [name, entry] of other.tree) if ((mark + name.length) % 2) put1(tree, name, entry);
    for (const edit of commit.edits) apply(tree, edit, format);
    time += commit.step;
    if (commit.root) put(`reset refs/heads/b${commit.branch}\n`);
    put(`commit refs/heads/b${commit.branch}\nmark :${mark}\n`);
    put(
      `author Ada <a@x> ${time} +0100\ncommitter Carl <c@x> ${time} +0000\ndata <<END\ncommit ${mark}\n\nbody\nEND\n`,
    );
    if (base) put(`from :${base.mark}\n`);
    for (const other of others) put(`merge :${other.mark}\n`);
    put("deleteall\n");
    for (const [name, { mode, data }] of tree) {
      if (mode === "160000") put(`M ${mode} ${data} ${quote(name)}\n`);
      else {
        put(`M ${mode} inline ${quote(name)}\ndata ${data.length}\n`);
        stream.push(data);
        put("\n");
      }
    }
    tips[commit.branch] = { mark, tree };
  });
  put(`reset refs/heads/main\nfrom :${commits.length}\n`);
  execFileSync("git", ["fast-import", "--quiet", "--force"], {
    cwd: root,
    env: testEnv(),
    input: Buffer.concat(stream),
  });
  const repo = repoAt(root);
  if (packed) repo.git("gc", "-q");
  return repo;
}

function apply(tree: Tree, edit: Commits[number]["edits"][number], format: string): void {
  const names = [...tree.keys()];
  const name = names[edit.seed % Math.max(1, names.length)];
  const wanted = NAMES[edit.name] ?? "";
  const old = name === undefined ? undefined : tree.get(name);
  const file = old?.mode.startsWith("10") ? old : undefined;
  if (edit.kind === "delete") {
    if (name !== undefined && names.length > 1) tree.delete(name);
  } else if (edit.kind === "rename" && name !== undefined && old) {
    tree.delete(name);
    put1(tree, NAMES[edit.to] ?? "", edit.seed % 2 && file ? { ...file, data: touched(file.data, edit.seed) } : old);
  } else if (edit.kind === "edit" && name !== undefined && file) {
    put1(tree, name, { ...file, data: touched(file.data, edit.seed) });
  } else if (edit.kind === "mode" && name !== undefined && file) {
    put1(tree, name, { ...file, mode: file.mode === "100644" ? "100755" : "100644" });
  } else if (edit.kind === "link") {
    put1(tree, name ?? wanted, { mode: "120000", data: Buffer.from(`../target-${edit.seed}`) });
  } else if (edit.kind === "module") {
    put1(tree, wanted, {
      mode: "160000",
      data: Buffer.from(String(edit.seed).padStart(format === "sha256" ? 64 : 40, "a")),
    });
  } else if (edit.kind === "binary") {
    put1(tree, wanted, { mode: "100644", data: Buffer.from([edit.seed % 256, 0, 1, 255, 10]) });
  } else {
    const lines = Array.from({ length: 12 }, (_, i) => `line ${i} of ${wanted} ${edit.seed * (i % 4)}\n`);
    put1(tree, wanted, { mode: "100644", data: Buffer.from(lines.join(""), edit.seed % 5 ? "utf8" : "latin1") });
  }
}

/** A file takes the place of a folder, and the other way round. */
function put1(tree: Tree, name: string, entry: Entry): void {
  for (const other of [...tree.keys()])
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) tree.delete(other);
  tree.set(name, entry);
}

function touched(data: Buffer, seed: number): Buffer {
  const lines = data.toString("latin1").split("\n");
  lines[seed % lines.length] = `touched ${seed}`;
  return Buffer.from(lines.join("\n"), "latin1");
}

const quote = (name: string) =>
  `"${name.replace(/[^A-Za-z0-9./]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`)}"`;

export interface PlainFile {
  mode: string;
  hash: string;
  size: number | null;
}

/** `git ls-tree`, by latin1 path. */
export function plainTree(repo: Repo, commit: string): Map<string, PlainFile> {
  const rows = repo.gitBytes("ls-tree", "-r", "-z", "-l", commit).toString("latin1").split("\0").filter(Boolean);
  return new Map(
    rows.map((row) => {
      const [meta = "", path = ""] = [row.slice(0, row.indexOf("\t")), row.slice(row.indexOf("\t") + 1)];
      const [mode = "", , hash = "", size = ""] = meta.split(/ +/);
      return [path, { mode, hash, size: size === "-" ? null : Number(size) }];
    }),
  );
}

export interface PlainChange {
  status: string;
  path: string;
  from?: string;
}

const WORDS: Record<string, string> = { A: "added", M: "modified", D: "deleted", R: "renamed", T: "type-changed" };

/** `git diff` between two commits as a user would run it. */
export function plainChanges(repo: Repo, parent: string | undefined, commit: string): PlainChange[] {
  if (parent === undefined) return [...plainTree(repo, commit).keys()].map((path) => ({ status: "added", path }));
  const parts = repo.gitBytes("diff", "--name-status", "-z", "-M", parent, commit).toString("latin1").split("\0");
  const changes: PlainChange[] = [];
  for (let i = 0; i + 1 < parts.length; ) {
    const letter = parts[i++]?.[0] ?? "";
    const first = parts[i++] ?? "";
    const status = WORDS[letter] ?? letter;
    changes.push(letter === "R" ? { status, path: parts[i++] ?? "", from: first } : { status, path: first });
  }
  return changes;
}

/** `git log -1 <commit> -- <path>`; by input, since an argument cannot hold all bytes. */
export function plainLastChange(repo: Repo, commit: string, path: string): string {
  const byInput = !path.includes("\n");
  const args = ["--literal-pathspecs", "rev-list", "-1", ...(byInput ? ["--stdin"] : [commit, "--", path])];
  const input = byInput ? Buffer.from(`${commit}\n--\n${path}\n`, "latin1") : undefined;
  return execFileSync("git", args, { cwd: repo.root, env: testEnv(), ...(input && { input }) })
    .toString()
    .trim();
}
