/** `GET /git/verify` in planted situations: each line's writer is known, and the figures are compared with it. */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { VerifyAnswer } from "../../plugins/blame/index.ts";
import { describeGit, makeRepo, type Repo, repoAt, T0, tempFolder } from "../git/_repo.ts";
import { archived, type Call } from "./_session.ts";

/** A line that says enough to be one writer's alone. */
const line = (n: number) =>
  `export const totalOfAllPrices${n} = (first, second) => first.price${n} + second.amount${n};`;
const text = (...lines: readonly (string | number)[]) =>
  lines.map((one) => `${typeof one === "number" ? line(one) : one}\n`).join("");

/** Of a commit: its subject, and how many added lines are of an assistant, of both, of a person, of unknown origin. */
type Row = [subject: string, assistant: number, mixed: number, person: number, unknown: number];

interface Planted {
  sessions?: readonly (readonly Call[])[];
  patches?: readonly [seconds: number, patch: string][];
  range?: string;
  rows: readonly Row[];
  /** Another checkout of the repository to be asked about, without a project. */
  path?: string;
  /** Lines by assistants that were rewritten or reverted since. */
  rewritten?: number;
  /** How many sessions wrote lines. */
  writers?: number;
}

const write = (repo: Repo, seconds: number, path: string, ...lines: readonly (string | number)[]): Call => [
  seconds,
  "Write",
  { file_path: join(repo.root, path), content: text(...lines) },
];
const edit = (repo: Repo, seconds: number, path: string, from: string, to: string): Call => [
  seconds,
  "Edit",
  { file_path: join(repo.root, path), old_string: from, new_string: to },
];
/** A session that only read, so that its time is archived. */
const reads = (repo: Repo): Call[] => [[1, "Read", { file_path: join(repo.root, "a.ts") }]];

/** Before all sessions, by hand: what situations begin with. */
function begin(repo: Repo, path = "a.ts", ...lines: readonly (string | number)[]): void {
  repo.write(path, text(...(lines.length > 0 ? lines : [900])));
  repo.commit("Begin", T0 - 1_000);
}

const PLANTED: Record<string, (repo: Repo) => Planted> = {
  "a person alone, while sessions are archived": (repo) => {
    begin(repo);
    repo.write("a.ts", text(900, 1, 2));
    repo.commit("By hand", T0 + 20);
    return { sessions: [reads(repo)], rows: [["By hand", 0, 0, 2, 0]], writers: 0 };
  },
  "a person, before any session": (repo) => {
    begin(repo, "a.ts", 1, 2, 3);
    return { sessions: [reads(repo)], rows: [["Begin", 0, 0, 0, 3]] };
  },
  "a session alone": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Session", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["Session", 2, 0, 0, 0]], writers: 1 };
  },
  "the first commit of a repository": (repo) => {
    repo.write("b.ts", text(1, 2));
    repo.commit("First", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["First", 2, 0, 0, 0]] };
  },
  "lines of a person among those of a session": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 50, 2, 51, 3));
    repo.commit("Both", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2, 3)]], rows: [["Both", 3, 0, 2, 0]] };
  },
  "a piece of a line of a person": (repo) => {
    begin(repo);
    repo.write("a.ts", text(line(900).replace("first.price900", "readThePriceOfTheFirstArticle()")));
    repo.commit("Piece", T0 + 20);
    return {
      sessions: [[edit(repo, 10, "a.ts", "first.price900", "readThePriceOfTheFirstArticle()")]],
      rows: [["Piece", 0, 1, 0, 0]],
    };
  },
  "a line of a session that a person changed before the commit": (repo) => {
    begin(repo);
    repo.write("b.ts", text(line(1).replace("first.price1", "somethingThatAPersonTyped"), 2));
    repo.commit("Changed", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["Changed", 1, 0, 1, 0]] };
  },
  "two assistants, a file each": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1));
    repo.write("c.ts", text(2, 3));
    repo.commit("Two", T0 + 30);
    return {
      sessions: [[write(repo, 10, "b.ts", 1)]],
      patches: [[20, `*** Begin Patch\n*** Add File: c.ts\n+${line(2)}\n+${line(3)}\n*** End Patch`]],
      rows: [["Two", 3, 0, 0, 0]],
      writers: 2,
    };
  },
  "two assistants in one file, and a person": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2, 60));
    repo.commit("Two", T0 + 30);
    return {
      sessions: [[write(repo, 10, "b.ts", 1)]],
      patches: [[20, `*** Begin Patch\n*** Update File: b.ts\n@@\n ${line(1)}\n+${line(2)}\n*** End Patch`]],
      rows: [["Two", 2, 0, 1, 0]],
      writers: 2,
    };
  },
  "a second session that rewrites lines of the first": (repo) => {
    begin(repo);
    repo.write("b.ts", text(3, 2));
    repo.commit("Rewritten", T0 + 40);
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2)], [edit(repo, 30, "b.ts", line(1), line(3))]],
      rows: [["Rewritten", 2, 0, 0, 0]],
      writers: 2,
    };
  },
  "a whole file written over lines of a person that are committed": (repo) => {
    begin(repo, "a.ts", 900, 901);
    repo.write("a.ts", text(900, 1, 901));
    repo.commit("Over", T0 + 20);
    return {
      sessions: [[write(repo, 10, "a.ts", 900, 1, 901)]],
      range: "main",
      rows: [
        ["Begin", 0, 0, 0, 2],
        ["Over", 1, 0, 0, 0],
      ],
    };
  },
  "an edit that failed, which a person then typed": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1));
    repo.commit("Typed", T0 + 20);
    return {
      sessions: [[[10, "Write", { file_path: join(repo.root, "b.ts"), content: text(1) }, true]]],
      rows: [["Typed", 0, 0, 1, 0]],
    };
  },
  "a file renamed without a change": (repo) => {
    begin(repo, "a.ts", 900, 901, 902);
    repo.git("mv", "a.ts", "z.ts");
    repo.commit("Renamed", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Renamed", 0, 0, 0, 0]] };
  },
  "a file renamed in the commit in which a session adds to it": (repo) => {
    begin(repo, "a.ts", 900, 901, 902, 903);
    repo.git("mv", "a.ts", "z.ts");
    repo.write("z.ts", text(900, 901, 902, 903, 1));
    repo.commit("Renamed", T0 + 20);
    return { sessions: [[edit(repo, 10, "z.ts", line(903), text(903, 1).trimEnd())]], rows: [["Renamed", 1, 0, 0, 0]] };
  },
  "a file written under another name than it was committed with": (repo) => {
    begin(repo);
    repo.write("new-name.ts", text(1, 2, 3));
    repo.commit("Moved", T0 + 20);
    return { sessions: [[write(repo, 10, "old-name.ts", 1, 2, 3)]], rows: [["Moved", 3, 0, 0, 0]] };
  },
  "lines of a session that a person moves to another file later": (repo) => {
    repo.write("b.ts", text(1, 2, 3));
    repo.commit("Session", T0 + 20);
    repo.write("b.ts", text(1));
    repo.write("c.ts", text(2, 3));
    repo.commit("Moved", T0 + 40);
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2, 3)]],
      range: "main",
      rows: [
        ["Session", 3, 0, 0, 0],
        // A written line counts in the commit that took it first.
        ["Moved", 0, 0, 2, 0],
      ],
      rewritten: 2,
    };
  },
  "a submodule that moves on": (repo) => {
    begin(repo);
    const other = makeRepo(tempFolder());
    other.write("x.ts", text(800));
    other.commit("Inside", T0 - 900);
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub");
    repo.commit("Add submodule", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Add submodule", 0, 0, 3, 0]] };
  },
  "a binary file": (repo) => {
    begin(repo);
    repo.write("b.png", Buffer.from([0, 1, 2, 10, 0, 255, 10, 3]));
    repo.write("b.ts", text(1));
    repo.commit("Binary", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1)]], rows: [["Binary", 1, 0, 0, 0]] };
  },
  "a file with CRLF that a session wrote with LF": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2).replaceAll("\n", "\r\n"));
    repo.commit("CRLF", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["CRLF", 2, 0, 0, 0]] };
  },
  "line ends that a person converts": (repo) => {
    repo.write("b.ts", text(1, 2));
    repo.commit("Session", T0 + 20);
    repo.write("b.ts", text(1, 2).replaceAll("\n", "\r\n"));
    repo.commit("CRLF", T0 + 40);
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2)]],
      range: "main",
      rows: [
        ["Session", 2, 0, 0, 0],
        ["CRLF", 0, 0, 0, 0],
      ],
    };
  },
  "blanks alone": (repo) => {
    begin(repo, "a.ts", 900, 901);
    repo.write("a.ts", text(`    ${line(900)}`, 901));
    repo.commit("Indent", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Indent", 0, 0, 0, 0]] };
  },
  "quotes and semicolons that a formatter changed before the commit": (repo) => {
    begin(repo);
    repo.write(
      "b.ts",
      'export const nameOfTheShop = "The corner shop"\nexport const nameOfTheOwner = "Ada Lovelace"\n',
    );
    repo.commit("Formatted", T0 + 20);
    const content = "export const nameOfTheShop = 'The corner shop';\nexport const nameOfTheOwner = 'Ada Lovelace';\n";
    return {
      sessions: [[[10, "Write", { file_path: join(repo.root, "b.ts"), content }]]],
      rows: [["Formatted", 2, 0, 0, 0]],
    };
  },
  "no line end at the end of a file": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2).trimEnd());
    repo.commit("Cut", T0 + 20);
    return {
      sessions: [[[10, "Write", { file_path: join(repo.root, "b.ts"), content: text(1, 2).trimEnd() }]]],
      rows: [["Cut", 2, 0, 0, 0]],
    };
  },
  "a name with blanks": (repo) => named(repo, "my folder/a file.ts"),
  "a name with a line end": (repo) => named(repo, "two\nlines.ts"),
  "a name with quotes and a tab": (repo) => named(repo, 'a"quo\tte.ts'),
  "a name that is not ASCII": (repo) => named(repo, "größe/価格.ts"),
  "a name that begins with a dash": (repo) => named(repo, "--output=x.ts"),
  "a file that is deleted": (repo) => {
    begin(repo, "a.ts", 900, 901);
    rmSync(join(repo.root, "a.ts"));
    repo.commit("Delete", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Delete", 0, 0, 0, 0]] };
  },
  "an empty commit, and one that changes a mode": (repo) => {
    begin(repo);
    repo.commit("Empty", T0 + 20);
    repo.git("update-index", "--chmod=+x", "a.ts");
    repo.git("commit", "-q", "-m", "Mode");
    return {
      sessions: [reads(repo)],
      range: "HEAD~2..HEAD",
      rows: [
        ["Empty", 0, 0, 0, 0],
        ["Mode", 0, 0, 0, 0],
      ],
    };
  },
  "a link": (repo) => {
    begin(repo);
    symlinkSync("a.ts", join(repo.root, "link.ts"));
    repo.commit("Link", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Link", 0, 0, 1, 0]] };
  },
  "a merge: each line counts in its own commit": (repo) => {
    begin(repo);
    repo.git("checkout", "-q", "-b", "side");
    repo.write("b.ts", text(1, 2));
    repo.commit("Side", T0 + 20);
    repo.git("checkout", "-q", "main");
    repo.write("c.ts", text(70));
    repo.commit("Main", T0 + 30);
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side");
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], range: "HEAD~1..HEAD", rows: [["Side", 2, 0, 0, 0]] };
  },
  "a merge whose conflict a person resolved": (repo) => {
    begin(repo, "a.ts", 900);
    repo.git("checkout", "-q", "-b", "side");
    repo.write("a.ts", text(1));
    repo.commit("Side", T0 + 20);
    repo.git("checkout", "-q", "main");
    repo.write("a.ts", text(70));
    repo.commit("Main", T0 + 30);
    try {
      repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side");
    } catch {
      repo.write("a.ts", text(1, 70, 71));
      repo.commit("Merge", T0 + 40);
    }
    return {
      sessions: [[edit(repo, 10, "a.ts", line(900), line(1))]],
      range: "main",
      rows: [
        ["Begin", 0, 0, 0, 1],
        ["Main", 0, 0, 1, 0],
        ["Side", 1, 0, 0, 0],
      ],
    };
  },
  "a squash": (repo) => {
    begin(repo);
    repo.git("checkout", "-q", "-b", "side");
    repo.write("b.ts", text(1, 2));
    repo.commit("One", T0 + 20);
    repo.write("b.ts", text(1, 2, 3));
    repo.commit("Two", T0 + 40);
    repo.git("checkout", "-q", "main");
    repo.git("merge", "-q", "--squash", "side");
    repo.commit("Squashed", T0 + 3_000);
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2), edit(repo, 30, "b.ts", line(2), text(2, 3).trimEnd())]],
      rows: [["Squashed", 3, 0, 0, 0]],
    };
  },
  "a cherry-pick, days later": (repo) => {
    begin(repo);
    repo.git("checkout", "-q", "-b", "side");
    repo.write("b.ts", text(1, 2));
    const hash = repo.commit("Picked", T0 + 20);
    repo.git("checkout", "-q", "main");
    repo.write("c.ts", text(70));
    repo.commit("Between", T0 + 200_000);
    repo.git("cherry-pick", hash);
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["Picked", 2, 0, 0, 0]] };
  },
  "a commit that a person amends": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Session", T0 + 20);
    repo.write("b.ts", text(1, 2, 80));
    repo.git("add", "-A");
    repo.git("commit", "-q", "--amend", "-m", "Amended");
    return { sessions: [[write(repo, 10, "b.ts", 1, 2)]], rows: [["Amended", 2, 0, 1, 0]] };
  },
  "a revert, and the revert of it": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Session", T0 + 20);
    repo.git("revert", "--no-edit", "HEAD");
    repo.git("revert", "--no-edit", "HEAD");
    // A newer git calls it Reapply.
    repo.git("commit", "-q", "--amend", "-m", 'Revert "Revert"');
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2)]],
      range: "HEAD~3..HEAD",
      rows: [
        ["Session", 2, 0, 0, 0],
        ['Revert "Session"', 0, 0, 0, 0],
        ['Revert "Revert"', 2, 0, 0, 0],
      ],
    };
  },
  "lines that a person rewrites later": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2, 3));
    repo.commit("Session", T0 + 20);
    repo.write("b.ts", text(81, 82, 3));
    repo.commit("By hand", T0 + 40);
    return {
      sessions: [[write(repo, 10, "b.ts", 1, 2, 3)]],
      range: "HEAD~2..HEAD",
      rows: [
        ["Session", 3, 0, 0, 0],
        ["By hand", 0, 0, 2, 0],
      ],
      rewritten: 2,
    };
  },
  "a range leaves out what is before it": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1));
    repo.commit("One", T0 + 20);
    repo.write("b.ts", text(1, 2));
    repo.commit("Two", T0 + 40);
    return {
      sessions: [[write(repo, 10, "b.ts", 1), edit(repo, 30, "b.ts", line(1), text(1, 2).trimEnd())]],
      range: "HEAD~1..HEAD",
      rows: [["Two", 1, 0, 0, 0]],
    };
  },
  "a detached HEAD": (repo) => {
    begin(repo);
    repo.git("checkout", "-q", "--detach");
    repo.write("b.ts", text(1));
    repo.commit("Detached", T0 + 20);
    return { sessions: [[write(repo, 10, "b.ts", 1)]], rows: [["Detached", 1, 0, 0, 0]] };
  },
  "a session in a folder of the repository, with relative paths": (repo) => {
    begin(repo);
    repo.write("deep/er/b.ts", text(1, 2));
    repo.commit("Relative", T0 + 20);
    return {
      sessions: [[[10, "Write", { file_path: "deep/er/b.ts", content: text(1, 2) }]]],
      rows: [["Relative", 2, 0, 0, 0]],
    };
  },
  "a linked work tree": (repo) => {
    begin(repo);
    const tree = join(tempFolder(), "tree");
    repo.git("worktree", "add", "-q", "-b", "side", tree);
    const linked = repoAt(tree);
    linked.write("b.ts", text(1, 2));
    linked.commit("In a work tree", T0 + 20);
    return { sessions: [[write(linked, 10, "b.ts", 1, 2)]], range: "side", rows: [["In a work tree", 2, 0, 0, 0]] };
  },
  "a shallow clone": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 50));
    repo.commit("Session", T0 + 20);
    repo.write("b.ts", text(1, 50, 2));
    repo.commit("Last", T0 + 40);
    const clone = join(tempFolder(), "clone");
    repo.git("clone", "-q", "--depth=1", `file://${repo.root}`, clone);
    return {
      sessions: [[write(repo, 10, "b.ts", 1), edit(repo, 30, "b.ts", line(1), text(1, 2).trimEnd())]],
      path: clone,
      // The clone has no earlier commit: all of the file is of the last one. No session worked in it.
      rows: [["Last", 0, 0, 0, 4]],
      writers: 0,
    };
  },
  "no archive, and nothing that says who wrote it": (repo) => {
    begin(repo);
    return { path: repo.root, rows: [["Begin", 0, 0, 0, 1]] };
  },
  "no archive, and a message that names an assistant": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Signed\n\nCo-Authored-By: Claude <noreply@anthropic.com>", T0 + 20);
    return { path: repo.root, rows: [["Signed", 2, 0, 0, 0]] };
  },
  "no archive, and a note of git-ai for one line of two": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Noted", T0 + 20);
    const prompts = { abcd1234abcd1234: { agent_id: { tool: "claude", id: "s1", model: "m" }, messages: [] } };
    const metadata = { schema_version: "authorship/3.0.0", base_commit_sha: "0", prompts };
    repo.git("notes", "--ref=ai", "add", "-m", `b.ts\n  abcd1234abcd1234 2\n---\n${JSON.stringify(metadata)}`, "HEAD");
    return { path: repo.root, rows: [["Noted", 1, 0, 0, 1]] };
  },
  "lines that shell commands wrote": (repo) => {
    begin(repo, "a.ts", 900, 901);
    repo.write("print.ts", text(1, 2));
    repo.write("echo.ts", text(3, 4));
    repo.write("here.ts", text(5, 60));
    repo.write("each.ts", text("export const nameOfTheFirst = 100;", 61, "export const nameOfTheNext = 50;"));
    repo.write("a.ts", text(900, line(901).replace("first.price901", "readThePriceOfTheFirst")));
    repo.write("count.txt", text("total of all prices: 12"));
    repo.commit("Shell", T0 + 40);
    const names = "'export const nameOfTheFirst = 100;' 'export const nameOfTheNext = 50;'";
    const commands = [
      `printf '${line(1)}\\n${line(2)}\\n' > print.ts`,
      `echo "${line(3)}" > ./echo.ts && echo '${line(4)}' >> echo.ts`,
      `cat > here.ts <<'END'\n${line(5)}\nEND`,
      `printf '%s\\n' ${names} > 'each.ts'; ls`,
      "sed -i 's/first.price901/readThePriceOfTheFirst/' a.ts",
      // What it prints depends on the machine.
      `printf 'total of all prices: %d\\n' 12 > count.txt; echo "$HOME" > home.ts`,
    ];
    return {
      sessions: [commands.map((command, i): Call => [10 + i, "Bash", { command }])],
      rows: [["Shell", 7, 1, 3, 0]],
      writers: 1,
    };
  },
  "a shell command that failed, or that wrote another file": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Typed", T0 + 20);
    return {
      sessions: [
        [
          [10, "Bash", { command: `echo '${line(1)}' > b.ts` }, true],
          [11, "Bash", { command: `echo '${line(2)}' > /dev/null` }],
        ],
      ],
      rows: [["Typed", 0, 0, 2, 0]],
    };
  },
  "commits within a second, of lines that say enough": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1));
    repo.commit("One", T0 + 20);
    repo.write("b.ts", text(1, 2));
    repo.commit("Two", T0 + 20);
    repo.write("b.ts", text(1, 2, 70));
    repo.commit("By hand", T0 + 20);
    return {
      sessions: [[write(repo, 20, "b.ts", 1), edit(repo, 20, "b.ts", line(1), text(1, 2).trimEnd())]],
      range: "HEAD~3..HEAD",
      rows: [
        ["One", 1, 0, 0, 0],
        ["Two", 1, 0, 0, 0],
        ["By hand", 0, 0, 1, 0],
      ],
    };
  },
  "no archive, and the line of the commit hook": (repo) => {
    begin(repo);
    repo.write("b.ts", text(1, 2));
    repo.commit("Hooked\n\nAssisted-by: codex:gpt-5 [session 0b6f1c52]", T0 + 20);
    return { path: repo.root, rows: [["Hooked", 2, 0, 0, 0]] };
  },
  "more lines than are compared": (repo) => {
    begin(repo);
    repo.write("big.txt", Array.from({ length: 20_100 }, (_, n) => `row ${n}\n`).join(""));
    repo.commit("Generated", T0 + 20);
    return { sessions: [reads(repo)], rows: [["Generated", 0, 0, 20_000, 100]] };
  },
};

function named(repo: Repo, path: string): Planted {
  begin(repo);
  repo.write(path, text(1, 50));
  repo.commit("Named", T0 + 20);
  return { sessions: [[write(repo, 10, path, 1)]], rows: [["Named", 1, 0, 1, 0]] };
}

describeGit("who wrote it", () => {
  it.each(Object.keys(PLANTED))("%s", async (name) => {
    const repo = makeRepo();
    mkdirSync(repo.root, { recursive: true });
    const planted = PLANTED[name]?.(repo);
    if (!planted) throw new Error(name);
    const { sessions = [], patches = [], range = "last", path, rows, rewritten = 0, writers } = planted;
    const { t, project } = await archived(repo, sessions, patches);
    const place: Record<string, string> = path === undefined ? { project } : { path: `${path}/.` };
    const answer = await t.json<VerifyAnswer>(`/api/git/verify?${new URLSearchParams({ ...place, range })}`);
    expect(answer.commits.map((one): Row => [one.subject, one.assistant, one.mixed, one.person, one.unknown])).toEqual(
      rows,
    );
    const sum = (at: 1 | 2 | 3 | 4) => rows.reduce((total, row) => total + row[at], 0);
    expect(answer.total).toEqual({ assistant: sum(1), mixed: sum(2), person: sum(3), unknown: sum(4) });
    expect(answer.rewritten).toBe(rewritten);
    if (writers !== undefined) expect(answer.sessions).toHaveLength(writers);
    for (const { files, ...commit } of answer.commits)
      expect(files.reduce((total, one) => total + one.assistant + one.mixed + one.person + one.unknown, 0)).toBe(
        commit.assistant + commit.mixed + commit.person + commit.unknown,
      );
  });
});
