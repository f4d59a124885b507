/** GET /git/blame: of each line its commit, and the call of the session that wrote it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Origins } from "../../plugins/blame/index.ts";
import { describeGit, makeRepo, T0, tempFolder } from "../git/_repo.ts";
import { archived, type Call } from "./_session.ts";

/** Text of each line with the call it comes from: session, seq, evidence. */
const told = ({ lines, writers }: Origins) =>
  lines?.map((line) => {
    const writer = writers[line.writer ?? -1];
    return [line.text, writer && `${writer.sessionId.at(-1)}${writer.seq} ${line.evidence}`];
  });

describeGit("a line's reason", () => {
  it("is the last call before its commit that wrote it, of any session; lines of no session have none", async () => {
    const repo = makeRepo();
    const file = join(repo.root, "src/sum.ts");
    const first = "// by hand\nexport function sum(a, b) {\n  return a + b;\n}\n";
    const second = "// by hand\nexport function sum(a, b) {\n  const total = a + b;\n  return total;\n}\n";
    repo.write("src/sum.ts", "// by hand\n");
    repo.commit("Begin", T0);
    repo.write("src/sum.ts", first);
    repo.commit("Add sum", T0 + 20);
    repo.write("src/sum.ts", second);
    repo.commit("Name the total", T0 + 40);
    const body = "  return a + b;";
    const { blame } = await archived(repo, [
      [
        [5, "Read", { file_path: file }],
        [10, "Write", { file_path: file, content: "nothing of it stayed" }],
        [11, "Write", { file_path: file, content: first }],
        [12, "Edit", { file_path: file, old_string: "// by hand", new_string: "  const total = a + b;" }, true],
      ],
      [
        [30, "Edit", { file_path: join(repo.root, "other/sum.ts"), old_string: body, new_string: second }],
        [31, "Edit", { file_path: file, old_string: body, new_string: "  const total = a + b;\n  return total;" }],
        [50, "Edit", { file_path: file, old_string: "x", new_string: "// by hand\nfor later" }],
      ],
    ]);
    const answer = await blame("src/sum.ts");
    expect(told(answer)).toEqual([
      ["// by hand", undefined],
      ["export function sum(a, b) {", "a5 line"],
      ["  const total = a + b;", "b3 line"],
      ["  return total;", "b3 line"],
      ["}", "a5 near"],
    ]);
    expect(answer.commits.map((one) => one.subject).sort()).toEqual(["Add sum", "Begin", "Name the total"]);
    expect(answer.later.map((one) => `${one.sessionId.at(-1)}${one.seq}`)).toEqual(["b5"]);
    expect(answer.writers[0]).toMatchObject({ tool: "claude-code", title: "Go", name: "Write" });
  });

  it.each([
    [{ 1: 0 }, "a"],
    [{ 0: 1 }, "b"],
  ])("is the origin's call, not its copy in the log of a fork: %o", async (forks, origin) => {
    const repo = makeRepo();
    const file = join(repo.root, "a.ts");
    repo.write("a.ts", "// by hand\n");
    repo.commit("Begin", T0);
    const written = "const total = first + second;\nreturn total;";
    repo.write("a.ts", `// by hand\n${written}\n`);
    repo.commit("Add", T0 + 20);
    const edit = { file_path: file, old_string: "// by hand", new_string: `// by hand\n${written}` };
    const calls: Call[] = [[10, "Edit", edit]];
    const { blame } = await archived(repo, [calls, calls], [], forks);
    expect(told(await blame("a.ts"))?.map(([, who]) => who)).toEqual([undefined, `${origin}1 line`, `${origin}1 line`]);
  });

  it("is a call's for as many short lines as the call wrote, next to its other lines", async () => {
    const repo = makeRepo();
    const file = join(repo.root, "a.ts");
    repo.write("a.ts", "// by hand\n");
    repo.commit("Begin", T0);
    const written = "const total = first + second;\ni++;\nreturn total;";
    repo.write("a.ts", `i++;\n// by hand\n${written}\n`);
    repo.commit("Add", T0 + 20);
    const { blame } = await archived(repo, [
      [[10, "Edit", { file_path: file, old_string: "// by hand", new_string: `// by hand\n${written}` }]],
    ]);
    expect(told(await blame("a.ts"))?.map(([, who]) => who)).toEqual([
      undefined,
      undefined,
      "a1 line",
      "a1 near",
      "a1 line",
    ]);
  });

  it("is found for an edit inside of a line, and by a relative path", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "The tide is high at noon today.\nsecond line stays\n");
    repo.commit("Begin", T0);
    repo.write("a.txt", "The tide is low at midnight today.\nsecond line stays\n");
    repo.commit("Low", T0 + 20);
    const { blame, t, ask } = await archived(repo, [
      [[10, "Edit", { file_path: "a.txt", old_string: "high at noon", new_string: "low at midnight" }]],
    ]);
    expect(told(await blame("a.txt"))).toEqual([
      ["The tide is low at midnight today.", "a1 part"],
      ["second line stays", undefined],
    ]);
    repo.write("b.bin", Buffer.from([1, 0, 2]));
    repo.commit("Bytes", T0 + 60);
    expect((await blame("b.bin")).lines).toBeNull();
    for (const path of ["none.txt", "--help", ".git/config"]) expect((await t.fetch(ask(path))).status).toBe(404);
  });

  const manual = [
    "export const firstName = 'one of many', secondName = 'two of many';",
    "export function join(first, second) {",
  ];

  it("is no patch that removed the line and added it again", async () => {
    const repo = makeRepo();
    repo.write("a.ts", `${manual.join("\n")}\n`);
    repo.commit("By hand", T0);
    const added = "  return [first, second].filter(Boolean).join(separator);";
    repo.write("a.ts", `${[...manual, added].join("\n")}\n`);
    repo.commit("Join", T0 + 20);
    repo.write("a.ts", `${[...manual, added].join("\n").replaceAll("'", '"')}\n`);
    repo.commit("Format", T0 + 40);
    const signed = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
    const patch = ["*** Begin Patch", "*** Update File: a.ts", "@@", ...signed("-", manual)];
    const { blame } = await archived(
      repo,
      [],
      [[10, [...patch, ...signed("+", [...manual, added]), "*** End Patch"].join("\n")]],
    );
    expect(told(await blame("a.ts"))?.map(([, who]) => who)).toEqual([undefined, undefined, "d1 line"]);
  });

  it("is no call that wrote the whole file with the line in it, while the commit changed its quotes alone", async () => {
    const repo = makeRepo();
    const file = join(repo.root, "a.ts");
    repo.write("a.ts", `${manual.join("\n")}\n`);
    repo.commit("By hand", T0);
    const added = "  return [first, second].filter(Boolean).join(separator);";
    const whole = `${[...manual, added].join("\n")}\n`;
    repo.write("a.ts", whole.replaceAll("'", '"'));
    repo.commit("Join, formatted", T0 + 40);
    const { blame } = await archived(repo, [[[10, "Write", { file_path: file, content: whole }]]]);
    expect(told(await blame("a.ts"))?.map(([, who]) => who)).toEqual([undefined, undefined, "a1 line"]);
  });

  it("is asked of git without running what the repository names", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "one line of text\n");
    repo.write(".gitattributes", "*.txt diff=evil filter=evil\n");
    repo.commit("Begin", T0);
    const trap = join(tempFolder(), "ran");
    for (const key of ["diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean"])
      repo.git("config", key, `sh -c 'touch ${trap}; cat'`);
    const { blame } = await archived(repo, [[[10, "Read", { file_path: "a.txt" }]]]);
    expect((await blame("a.txt")).lines?.[0]?.text).toBe("one line of text");
    expect(existsSync(trap)).toBe(false);
  });
});
