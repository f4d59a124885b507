/** The snippets for build servers in docs/guides/verify.md, run as plain shell in a clone without an archive. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { builtPackage, CLI, ROOT } from "../built.ts";
import { describeGit, makeRepo, T0, tempFolder } from "../git/_repo.ts";

const guide = readFileSync(join(ROOT, "docs/guides/verify.md"), "utf8");
const between = (start: string, end: string) => guide.slice(guide.indexOf(start)).split(end, 1)[0] ?? "";
const github = between("run: |\n", "```").split("\n").slice(1);
const gitlab = [...between("script:\n", "```").matchAll(/^ {4}- (.+)$/gm)].map(([, line = ""]) => line);

describeGit("verify on a build server", () => {
  beforeAll(() => builtPackage(), 300_000);

  it.each([
    ["GitHub", github],
    ["GitLab", gitlab],
  ])("%s: reads the notes that were pushed", (_name, lines) => {
    expect(lines.length).toBeGreaterThanOrEqual(2);
    const home = tempFolder();
    const origin = makeRepo(join(home, "origin"));
    origin.write("a.ts", "// by hand\n");
    origin.commit("Begin", T0);
    const base = origin.git("rev-parse", "HEAD").trim();
    origin.write("a.ts", "// by hand\nexport const noted = 1;\n");
    origin.commit("Noted", T0 + 60);
    const metadata = {
      ...{ schema_version: "authorship/3.0.0", base_commit_sha: "0" },
      prompts: { abcd1234abcd1234: { agent_id: { tool: "claude", id: "s1", model: "m" }, messages: [] } },
    };
    origin.git(
      "notes",
      "--ref=ai",
      "add",
      "-m",
      `a.ts\n  abcd1234abcd1234 2\n---\n${JSON.stringify(metadata)}`,
      "HEAD",
    );
    origin.git("clone", "-q", origin.root, join(home, "clone"));
    // `npx --yes sessarc` without a registry: the built program.
    mkdirSync(join(home, "bin"));
    writeFileSync(join(home, "bin/npx"), `#!/bin/sh\nshift 2\nexec "${process.execPath}" "${CLI}" "$@"\n`);
    chmodSync(join(home, "bin/npx"), 0o755);
    const summary = join(home, "summary.md");
    const printed = execFileSync("sh", ["-e", "-c", lines.join("\n")], {
      cwd: join(home, "clone"),
      encoding: "utf8",
      env: {
        ...{ HOME: home, PATH: `${join(home, "bin")}:${process.env.PATH}` },
        ...{ BASE: base, CI_MERGE_REQUEST_DIFF_BASE_SHA: base, GITHUB_STEP_SUMMARY: summary },
      },
    });
    const report = lines === github ? readFileSync(summary, "utf8") : printed;
    expect(report).toContain("1 commit, 1 added line: 100 % by assistants.");
    expect(report).toContain("No secret in added lines.");
  });
});
