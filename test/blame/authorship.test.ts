/** Who wrote each line of a commit, in the forms that others read: notes of the Git AI Standard, and Agent Trace. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import type { NotesWritten, TraceRecord } from "../../plugins/blame/index.ts";
import { describeGit, makeRepo, T0 } from "../git/_repo.ts";
import { readNote } from "./_note.ts";
import { archived, KEYS } from "./_session.ts";

const [head, body] = ["export function sumOfAllPrices(first, second) {", "  return first.price + second.price;"];
const total = "  const totalOfBothPrices = first.price + second.price;\n  return roundedToCents(totalOfBothPrices);";
const first = `// by hand\n${head}\n${body}\n}\n`;
const second = `// by hand\n${head}\n${total}\n}\n`;

async function place(name = "src/sum.ts") {
  const repo = makeRepo();
  const file = join(repo.root, name);
  repo.write(name, "// by hand\n");
  repo.commit("Begin", T0);
  repo.write(name, first);
  repo.commit("Add sum", T0 + 20);
  repo.write(name, second);
  repo.commit("Name the total", T0 + 40);
  const { t, project } = await archived(repo, [
    [[11, "Write", { file_path: file, content: first }]],
    [[31, "Edit", { file_path: file, old_string: body, new_string: total }]],
  ]);
  const write = async (body: object) => {
    const response = await t.send("POST", `/api/projects/${project}/git-notes`, body);
    expect(response.status).toBe(200);
    return response.body as NotesWritten;
  };
  const note = (rev: string) => readNote(repo.git("notes", "--ref=ai", "show", rev));
  return { repo, t, project, write, note };
}

const lineOf = (files: ReturnType<typeof readNote>["files"], path: string) =>
  Object.fromEntries((files.get(path) ?? []).flatMap(({ agent, lines }) => lines.map((line) => [line, agent.id])));

describeGit("notes of the Git AI Standard", () => {
  it("name the lines that each session wrote in each commit, and no author for a person's", async () => {
    const { repo, write, note } = await place();
    const before = [repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")];
    const { commits, ...rest } = await write({ range: "main" });
    expect(commits).toHaveLength(2);
    expect(rest).toEqual({ ref: "refs/notes/ai", merged: 0, disagreeing: 0, converted: 0 });
    expect(lineOf(note("HEAD~1").files, "src/sum.ts")).toEqual({ 2: KEYS[0], 3: KEYS[0], 4: KEYS[0] });
    const last = note("HEAD");
    expect(lineOf(last.files, "src/sum.ts")).toEqual({ 3: KEYS[1], 4: KEYS[1] });
    expect(last.metadata.base_commit_sha).toBe(repo.git("rev-parse", "HEAD").trim());
    expect(Object.values(last.metadata.prompts)[0]).toMatchObject({
      agent_id: { tool: "claude", id: KEYS[1], model: "m" },
      messages: [],
      accepted_lines: 2,
    });
    expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")]).toEqual(before);
  });

  it("are the same when they are written twice, and hold prompts only on request", async () => {
    const { repo, write } = await place();
    await write({ range: "main" });
    const once = repo.git("notes", "--ref=ai", "show", "HEAD");
    await write({ range: "main" });
    expect(repo.git("notes", "--ref=ai", "show", "HEAD")).toBe(once);
    expect(once).not.toContain('"Go"');
    await write({ range: "last", prompts: true });
    expect(repo.git("notes", "--ref=ai", "show", "HEAD")).toContain('"text": "Go"');
  });

  it("quote a path with blanks", async () => {
    const { write, note } = await place("src/my sum.ts");
    await write({ range: "last" });
    expect(lineOf(note("HEAD").files, "src/my sum.ts")).toEqual({ 3: KEYS[1], 4: KEYS[1] });
  });

  it("are merged into those of git-ai, which win, and the difference is reported", async () => {
    const { repo, write, note } = await place();
    const theirs = {
      ...{ schema_version: "authorship/3.0.0", git_ai_version: "1.2.3", base_commit_sha: "0", unknown_field: 7 },
      prompts: { abcd1234abcd1234: { agent_id: { tool: "cursor", id: "c1", model: "sonnet" }, messages: [] } },
    };
    const text = `src/sum.ts\n  abcd1234abcd1234 3\n---\n${JSON.stringify(theirs)}`;
    repo.git("notes", "--ref=ai", "add", "-m", text, "HEAD");
    expect(await write({ range: "last" })).toMatchObject({ merged: 1, disagreeing: 1 });
    const { files, metadata } = note("HEAD");
    expect(lineOf(files, "src/sum.ts")).toEqual({ 3: "c1", 4: KEYS[1] });
    expect(metadata).toMatchObject({ git_ai_version: "1.2.3", unknown_field: 7 });
    const once = repo.git("notes", "--ref=ai", "show", "HEAD");
    expect(await write({ range: "last" })).toMatchObject({ merged: 1, disagreeing: 1 });
    expect(repo.git("notes", "--ref=ai", "show", "HEAD")).toBe(once);
  });

  it("replace those of the former form on request, which are removed", async () => {
    const { repo, write, note } = await place();
    repo.git("notes", "--ref=sessarc", "add", "-m", "sessarc-note: 1\nmicrodollars: 5", "HEAD");
    repo.git("notes", "--ref=sessarc", "add", "-m", "sessarc-note: 1\nmicrodollars: 5", "HEAD~2");
    expect(await write({ convert: true })).toMatchObject({
      converted: 1,
      commits: [repo.git("rev-parse", "HEAD").trim()],
    });
    expect(note("HEAD").files.size).toBe(1);
    // A commit without a line of a session keeps what it had.
    expect(repo.git("notes", "--ref=sessarc", "list").trim().split("\n")).toHaveLength(1);
  });

  it("follow the lines through squash, rebase, cherry-pick and amend", async () => {
    const { repo, write, note } = await place();
    const lines = { 2: KEYS[0], 3: KEYS[1], 4: KEYS[1] };
    repo.git("checkout", "-q", "-b", "squashed", "HEAD~2");
    repo.git("merge", "-q", "--squash", "main");
    repo.commit("Squashed", T0 + 60);
    await write({ range: "squashed" });
    expect(lineOf(note("squashed").files, "src/sum.ts")).toMatchObject(lines);
    repo.git("checkout", "-q", "-b", "moved", "main~2");
    repo.write("other.ts", "// first\n");
    repo.commit("Elsewhere", T0 + 70);
    repo.git("cherry-pick", "main~1");
    repo.git("cherry-pick", "main");
    await write({ range: "moved" });
    expect(lineOf(note("moved").files, "src/sum.ts")).toMatchObject({ 3: KEYS[1], 4: KEYS[1] });
    expect(lineOf(note("moved~1").files, "src/sum.ts")).toMatchObject({ 2: KEYS[0] });
    repo.write("more.ts", "// more by hand\n");
    repo.git("add", "-A");
    repo.git("commit", "-q", "--amend", "--no-edit");
    await write({ range: "moved" });
    expect(lineOf(note("moved").files, "src/sum.ts")).toMatchObject({ 3: KEYS[1], 4: KEYS[1] });
  });
});

describeGit("Agent Trace", () => {
  const validate = new Ajv2020({ strict: false, formats: { uuid: true, "date-time": true, uri: true } }).compile(
    JSON.parse(readFileSync(new URL("schemas/agent-trace-0.1.json", import.meta.url), "utf8")),
  );

  it("has a valid record for each commit with lines of a session, always the same one", async () => {
    const { t, project, repo } = await place();
    const ask = () => t.json<{ records: TraceRecord[] }>(`/api/projects/${project}/agent-trace?range=main`);
    const { records } = await ask();
    for (const record of records) expect(validate(record), JSON.stringify(validate.errors)).toBe(true);
    expect(records.map(({ vcs }) => vcs.revision)).toEqual([
      repo.git("rev-parse", "HEAD~1").trim(),
      repo.git("rev-parse", "HEAD").trim(),
    ]);
    expect(records[1]?.files).toEqual([
      {
        path: "src/sum.ts",
        conversations: [
          {
            url: `urn:sessarc:session:claude-code%3A${KEYS[1]}`,
            contributor: { type: "ai", model_id: "m" },
            ranges: [{ start_line: 3, end_line: 4 }],
          },
        ],
      },
    ]);
    expect((await ask()).records).toEqual(records);
  });
});
