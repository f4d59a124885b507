/** A repository with what git does not hold, and shell lines that destroy some of it. */
import { join } from "node:path";
import { makeRepo, tempFolder } from "../git/_repo.ts";

/** Files of a repository with what git does not hold. */
export const TREE = {
  committed: { "kept.txt": "kept\n", "a.txt": "a\n", "src/b.ts": "b\n", "src/deep/c.ts": "c\n", "sp ace.txt": "s\n" },
  changed: { "a.txt": "a changed\n", "src/b.ts": "b changed\r\nno end", "sp ace.txt": "changed\n" },
  untracked: {
    "new.txt": "new\n",
    "src/new.ts": "export {}\n",
    "new\nline.txt": "named so\n",
    "-dash.txt": "dash\n",
    "pic.bin": Buffer.from([0, 255, 1, 254]),
    "empty.txt": "",
    "notes/one.md": "one\n",
    "notes/two.log": "two\n",
  },
  ignored: { ".env": "KEY=value\n", "logs/app.log": "log\n", "local.sqlite": Buffer.from([1, 0, 2]) },
  built: { "node_modules/x/index.js": "x\n", "dist/out.js": "out\n", ".venv/bin/python": "p\n" },
} as const;

export function makeTree() {
  const repo = makeRepo(join(tempFolder(), "project"));
  for (const [path, text] of Object.entries(TREE.committed)) repo.write(path, text);
  repo.write(".gitignore", "node_modules\ndist\n.venv\n.env\nlogs/\n*.sqlite\n");
  repo.commit("first");
  for (const kind of [TREE.changed, TREE.untracked, TREE.ignored, TREE.built])
    for (const [path, content] of Object.entries(kind)) repo.write(path, content);
  repo.git("branch", "other");
  return repo;
}

type Kind = "changed" | "untracked" | "ignored";
export const of = (...kinds: Kind[]): string[] => kinds.flatMap((kind) => Object.keys(TREE[kind]));
export const ALL = of("changed", "untracked", "ignored");
export const below = (folder: string) => ALL.filter((path) => path.startsWith(`${folder}/`));
const visible = ALL.filter((path) => !path.startsWith("."));

/** A line, and the files that it destroys which git does not hold. */
export const LINES: [line: string, files: readonly string[]][] = [
  ["rm a.txt", ["a.txt"]],
  ["rm -f ./new.txt src/new.ts", ["new.txt", "src/new.ts"]],
  ["rm -rf src", below("src")],
  ["rm -rf src/", below("src")],
  ["rm -rf *", visible],
  ["rm -rf .", ALL],
  ["rm -rf ./*", visible],
  ['rm -rf "$PWD"', ALL],
  ["rm *.txt", ["a.txt", "sp ace.txt", "new.txt", "new\nline.txt", "-dash.txt", "empty.txt"]],
  ["rm -- -dash.txt", ["-dash.txt"]],
  ["rm 'sp ace.txt'", ["sp ace.txt"]],
  ["rm sp\\ ace.txt", ["sp ace.txt"]],
  ["rm $'new\\nline.txt'", ["new\nline.txt"]],
  ["rm .env", [".env"]],
  ["rm -rf logs", ["logs/app.log"]],
  ["rm -r notes/*.md", ["notes/one.md"]],
  ["rm {a,new}.txt", ["a.txt", "new.txt"]],
  ["cd src && rm b.ts", ["src/b.ts"]],
  ["(cd src; rm new.ts); rm new.txt", ["src/new.ts", "new.txt"]],
  ["cd src\ncd ..\n(cd notes; rm one.md); rm new.txt", ["notes/one.md", "new.txt"]],
  ["pushd notes >/dev/null; rm one.md; popd", ["notes/one.md"]],
  ["sudo rm a.txt || rm a.txt", ["a.txt"]],
  ["sh -c 'rm a.txt'", ["a.txt"]],
  ['bash -lc "cd src && rm -f b.ts"', ["src/b.ts"]],
  ["eval 'rm new.txt'", ["new.txt"]],
  ["env X=1 rm new.txt", ["new.txt"]],
  ["timeout 5 rm new.txt", ["new.txt"]],
  ["bash <<'END'\nrm new.txt\nEND", ["new.txt"]],
  ["F=new.txt; rm $F", ["new.txt"]],
  ['for f in a.txt new.txt; do rm "$f"; done', ["a.txt", "new.txt"]],
  ["unlink new.txt", ["new.txt"]],
  ["shred -u new.txt", ["new.txt"]],
  ["mv new.txt a.txt", ["a.txt"]],
  ["mv new.txt empty.txt notes/", []],
  ["touch one.md; mv one.md notes/", ["notes/one.md"]],
  ["cp kept.txt a.txt", ["a.txt"]],
  ["cp -f kept.txt -t src; cp kept.txt src/b.ts", ["src/b.ts"]],
  ["ln -sf kept.txt new.txt", ["new.txt"]],
  ["install -m 644 kept.txt new.txt", ["new.txt"]],
  ["echo x > a.txt", ["a.txt"]],
  ["echo x >| new.txt", ["new.txt"]],
  ["> .env", [".env"]],
  [": > pic.bin", ["pic.bin"]],
  ["echo x | tee new.txt", ["new.txt"]],
  ["truncate -s 0 local.sqlite", ["local.sqlite"]],
  ["dd if=/dev/zero of=new.txt count=1", ["new.txt"]],
  ["sed -i s/a/b/ a.txt", ["a.txt"]],
  ["perl -pi -e s/a/b/ a.txt", ["a.txt"]],
  ["find . -delete", ALL],
  ["find notes -name '*.log' -delete", ["notes/two.log"]],
  ["find . -name '*.md' -exec rm {} +", ["notes/one.md"]],
  ["find notes -type f | xargs rm", below("notes")],
  ["git ls-files -o | xargs rm", ALL],
  ["python3 -c \"import os; os.remove('a.txt')\"", ["a.txt"]],
  ["python3 - <<'END'\nimport shutil\nshutil.rmtree('notes')\nEND", below("notes")],
  ['node -e \'require("fs").writeFileSync("new.txt", "")\'', ["new.txt"]],
  ["git clean -fd", of("untracked")],
  ["git clean -fdx", of("untracked", "ignored")],
  ["git clean -fdX", of("ignored")],
  ["git clean -f notes", below("notes")],
  ["git reset --hard", of("changed")],
  ["cd src && git reset -q --hard HEAD", of("changed")],
  ["git checkout .", of("changed")],
  ["git checkout -- a.txt", ["a.txt"]],
  ["git checkout a.txt", ["a.txt"]],
  ["git checkout -f", of("changed")],
  ["git checkout HEAD -- src", ["src/b.ts"]],
  ["git restore src a.txt", ["a.txt", "src/b.ts"]],
  ["git rm -f a.txt", ["a.txt"]],
  ["git stash && git stash drop", of("changed", "untracked")],
  ["git -C src checkout b.ts", ["src/b.ts"]],
];
