/** `GET /git/verify`: who wrote the lines of a range, how they were checked, whether secrets passed; and its signed form. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { VerifyAnswer } from "../../plugins/blame/index.ts";
import { checkKind, outcomeOf } from "../../plugins/blame/verify/checks.ts";
import { checkEnvelope, type Envelope, readPublicKey } from "../../plugins/blame/verify/statement.ts";
import { readTrailers } from "../../plugins/blame/verify/trailers.ts";
import { describeGit, makeRepo, T0 } from "../git/_repo.ts";
import { letters } from "../security/_samples.ts";
import { archived, KEYS } from "./_session.ts";

const line = (n: number) =>
  `export const totalOfAllPrices${n} = (first, second) => first.price${n} + second.price${n};\n`;

async function place(checks: readonly [seconds: number, command: string, failed?: boolean][] = []) {
  const repo = makeRepo();
  const file = join(repo.root, "a.ts");
  repo.write("a.ts", "// by hand, before any session\n");
  repo.commit("Begin", T0 - 1_000);
  repo.write("a.ts", `// by hand, before any session\n${line(1)}${line(2)}`);
  repo.commit("By a session", T0 + 20);
  repo.write("b.ts", "// by hand, while sessions are archived\n");
  repo.commit("By a person", T0 + 40);
  const calls = checks.map(([seconds, command, failed = false]) => [seconds, "Bash", { command }, failed] as const);
  const { t, project } = await archived(repo, [
    [
      [11, "Edit", { file_path: file, old_string: "x", new_string: line(1) + line(2) }],
      ...calls.map(([seconds, name, input, failed]): [number, string, object, boolean] => [
        seconds,
        name,
        input,
        failed,
      ]),
    ],
  ]);
  const verify = (range: string) => t.json<VerifyAnswer>(`/api/git/verify?${new URLSearchParams({ project, range })}`);
  return { repo, t, project, file, verify };
}

describeGit("who wrote a range of commits", () => {
  it("is counted by line: a session's, a person's, and what nothing says", async () => {
    const { verify } = await place();
    const { commits, total, sessions, notesOnly, problems, secrets } = await verify("main");
    expect(commits.map(({ subject, assistant, person, unknown }) => [subject, assistant, person, unknown])).toEqual([
      ["Begin", 0, 0, 1],
      ["By a session", 2, 0, 0],
      ["By a person", 0, 1, 0],
    ]);
    expect(total).toEqual({ assistant: 2, mixed: 0, person: 1, unknown: 1 });
    expect(sessions).toMatchObject([
      { id: `claude-code:${KEYS[0]}`, lines: 2, models: ["m"], prompts: 1, microdollars: 0 },
    ]);
    expect([notesOnly, problems, secrets]).toEqual([false, [], []]);
    expect((await verify("HEAD~1")).commits.map(({ subject }) => subject)).toEqual(["By a session"]);
    expect((await verify("HEAD~1..HEAD")).commits.map(({ subject }) => subject)).toEqual(["By a person"]);
  });

  it("says of each session whether its checks passed after its last change", async () => {
    const { verify } = await place([
      [12, "npx vitest run"],
      [13, "npx tsc --noEmit", true],
      [14, "git log --grep 'npm test'"],
    ]);
    const { sessions, checks } = await verify("HEAD~1");
    expect(sessions[0]?.checks).toEqual({ tests: "passed", types: "failed", lint: "none", build: "none" });
    expect(checks.map(({ kind, command, failed }) => [kind, command, failed])).toEqual([
      ["tests", "npx vitest run", false],
      ["types", "npx tsc --noEmit", true],
    ]);
  });

  it("names a secret in an added line by its rule and place, never by its text", async () => {
    const { repo, verify } = await place();
    const token = `ghp_${letters(36, 5)}`;
    repo.write("c.ts", `// first\nconst token = "${token}";\n`);
    repo.commit("Oops", T0 + 60);
    const answer = await verify("last");
    expect(answer.secrets).toMatchObject([{ path: "c.ts", line: 2 }]);
    expect(JSON.stringify(answer)).not.toContain(token.slice(4, 14));
  });

  it("reads an assistant's trailer and a note of git-ai where no session is archived", async () => {
    const { repo, t, project } = await place();
    repo.write("d.ts", line(7));
    repo.commit("Signed\n\nCo-Authored-By: Claude Opus 4.5 <noreply@anthropic.com>", T0 + 80);
    repo.write("e.ts", line(8) + line(9));
    repo.commit("Noted", T0 + 90);
    const metadata = {
      schema_version: "authorship/3.0.0",
      prompts: { abcd1234abcd1234: { agent_id: { tool: "cursor" } } },
    };
    repo.git("notes", "--ref=ai", "add", "-m", `e.ts\n  abcd1234abcd1234 2\n---\n${JSON.stringify(metadata)}`, "HEAD");
    const ask = (query: { project: string } | { path: string }) =>
      t.json<VerifyAnswer>(
        `/api/git/verify?${new URLSearchParams(Object.entries({ range: "HEAD~2..HEAD", ...query }))}`,
      );
    for (const query of [{ project }, { path: join(repo.root, "a.ts") }]) {
      const { commits } = await ask(query);
      expect(commits[0]).toMatchObject({
        assistant: 1,
        person: 0,
        trailer: { tool: "claude-code", model: "Claude Opus 4.5" },
      });
      expect(commits[1]).toMatchObject({ assistant: 1, person: 1, noted: true });
    }
  });

  it("is known from notes and messages alone, of a repository without any session", async () => {
    const { t } = await place();
    const other = makeRepo();
    other.write("a.ts", line(1));
    other.commit("Alone", T0);
    const { commits, total, notesOnly } = await t.json<VerifyAnswer>(
      `/api/git/verify?${new URLSearchParams({ path: join(other.root, "a.ts") })}`,
    );
    expect([commits.length, total.unknown, notesOnly]).toEqual([1, 1, true]);
  });

  it("is signed, and one changed byte is noticed", async () => {
    const { t, project, repo } = await place();
    const { status, body } = await t.send("POST", "/api/git/attest", { project, range: "main" });
    expect(status).toBe(200);
    const { envelope, publicKey } = body as { envelope: Envelope; publicKey: string };
    const key = readPublicKey(publicKey);
    const text = JSON.stringify(envelope);
    const statement = checkEnvelope(text, key);
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicate: { total: { assistant: 2 } },
    });
    expect(statement.subject.at(-1)?.digest.gitCommit).toBe(repo.git("rev-parse", "HEAD").trim());
    for (let at = 0; at < text.length; at += 7) {
      const changed = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
      expect(() => checkEnvelope(changed, key), `byte ${at}`).toThrow(/not valid|Unexpected/);
    }
    const { publicKey: foreign } = generateKeyPairSync("ed25519");
    expect(() => checkEnvelope(text, foreign)).toThrow("not signed with this key");
    expect(readFileSync(join(t.kernel.config.dataDir, "attestation-key.pem"), "utf8")).toContain("PRIVATE KEY");
  });
});

it.each([
  ["npm test", "tests"],
  ["cd app && pnpm run unit test -- --run", "tests"],
  ["cargo nextest run", "tests"],
  ["go test ./...", "tests"],
  ["npx vue-tsc --noEmit", "types"],
  ["npx biome check .", "lint"],
  ["npm run build", "build"],
  ["echo 'npm test'", undefined],
  ["cat > run.sh <<'EOF'\nnpm test\nEOF", undefined],
  ["git commit -m 'add vitest'", undefined],
  ["ls test", undefined],
])("%s checks %s", (command, kind) => {
  expect(checkKind(command)).toBe(kind);
});

it("a check before the last change is stale", () => {
  const run = { session: "s", seq: 5, at: null, kind: "tests", command: "npm test", failed: false } as const;
  expect([4, 6].map((last) => outcomeOf([run], "tests", last))).toEqual(["passed", "stale"]);
  expect(outcomeOf([run], "types", 4)).toBe("none");
});

it.each([
  [["Assisted-by: claude-code:claude-opus-4-5 eslint"], { tool: "claude-code", model: "claude-opus-4-5" }],
  [["Co-Authored-By: Ada <ada@example.com>"], undefined],
  [["Co-Authored-By: Ada <ada@example.com>", "Co-authored-by: Codex <noreply@openai.com>"], { tool: "codex" }],
  [["Claude-Session: 0b6f1c52", "Co-Authored-By: Claude <noreply@anthropic.com>"], { session: "0b6f1c52" }],
  [["Agent-Logs-Url: https://example.com/logs/1"], { tool: "unknown" }],
  [["Signed-off-by: Claude Shannon <shannon@example.com>"], undefined],
  [
    ["Assisted-by: claude-code:claude-haiku-4-5 [session 0b6f1c52]"],
    { tool: "claude-code", model: "claude-haiku-4-5", session: "0b6f1c52" },
  ],
])("%j", (trailers, agent) => {
  const found = readTrailers(trailers);
  if (agent === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(agent);
});
