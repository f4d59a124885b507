/** Sessions whose folder only another row, table or file holds. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import cursor from "sessarc/plugins/cursor";
import hermes from "sessarc/plugins/hermes";
import kimi from "sessarc/plugins/kimi";
import { describe, expect, it } from "vitest";
import { globalDb, useCursor } from "./_cursor.ts";
import { home, readAll } from "./_home.ts";
import { writeDocument, writeTables } from "./_store.ts";

useCursor();

const T = 1_795_165_200;

describe("Hermes", () => {
  const session = (id: string, more: Record<string, string | null>) => ({
    id,
    model: "m",
    cwd: null,
    git_branch: null,
    git_repo_root: null,
    parent_session_id: null,
    started_at: T,
    input_tokens: 1,
    ...more,
  });
  const readPlaces = async (sessions: ReturnType<typeof session>[]) => {
    const messages = sessions.map(({ id }, at) => ({
      id: at,
      session_id: id,
      role: "user",
      content: "Go",
      timestamp: T,
    }));
    await writeTables(join(home, ".hermes/state.db"), { sessions, messages });
    const all = await readAll(hermes().adapter);
    return Object.fromEntries(
      all.map(({ ref, summary }) => [ref.key, summary.virtualProject?.name ?? [summary.cwd, summary.gitBranch]]),
    );
  };

  it("takes the folder and branch of the session's row, else the repository's, else those of the session above", async () => {
    expect(
      await readPlaces([
        session("own", { cwd: "/w/app", git_branch: "main", git_repo_root: "/w" }),
        session("repository", { git_repo_root: "/w/lib", git_branch: "dev" }),
        session("child", { parent_session_id: "own" }),
        session("grandchild", { parent_session_id: "child" }),
        session("chat", {}),
        session("orphan", { parent_session_id: "gone" }),
        session("circle-1", { parent_session_id: "circle-2" }),
        session("circle-2", { parent_session_id: "circle-1" }),
      ]),
    ).toEqual({
      own: ["/w/app", "main"],
      repository: ["/w/lib", "dev"],
      child: ["/w/app", "main"],
      grandchild: ["/w/app", "main"],
      chat: "Hermes",
      orphan: "Hermes",
      "circle-1": "Hermes",
      "circle-2": "Hermes",
    });
  });

  it("reads a session again when its folder became known", async () => {
    const [before] = [session("s", {})];
    await readPlaces([before]);
    const [first] = await readAll(hermes().adapter);
    await readPlaces([session("s", { cwd: "/w" })]);
    const [next] = await readAll(hermes().adapter);
    expect(next?.ref.version).not.toBe(first?.ref.version);
    expect(next?.ref.cwd).toBe("/w");
  });
});

describe("Kimi", () => {
  const wire = (workspace: string, id: string) =>
    writeDocument(
      join(home, ".kimi-code/sessions", workspace, id, "agents/main/wire.jsonl"),
      `${JSON.stringify({ type: "turn.prompt", time: T * 1000, input: "Go", origin: { kind: "user" } })}\n`,
    );
  const folders = async () =>
    Object.fromEntries((await readAll(kimi({ dir: home }).adapter)).map(({ ref, summary }) => [ref.key, summary.cwd]));

  it("takes the folder of the index of sessions, by id or by the session's folder, else of the workspace's other sessions", async () => {
    await wire("wd_app_1", "session_a");
    await wire("wd_lib_2", "session_b");
    await wire("wd_web_3", "session_c");
    await wire("wd_web_3", "session_d");
    await wire("wd_none_4", "session_e");
    await wire("wd_site_5", "session_f");
    await writeDocument(join(home, ".kimi-code/workspaces.json"), {
      workspaces: { wd_site_5: { root: "/w/site", name: "site" }, wd_app_1: { root: "/w/other" } },
    });
    await writeDocument(join(home, ".kimi-code/sessions/wd_web_3/session_c/state.json"), { cwd: "/w/web" });
    await writeDocument(
      join(home, ".kimi-code/session_index.jsonl"),
      [
        { sessionId: "session_a", sessionDir: "/x", workDir: "/w/app" },
        { sessionId: "b", sessionDir: "/h/.kimi-code/sessions/wd_lib_2/session_b", workDir: "/w/lib" },
      ]
        .map((row) => JSON.stringify(row))
        .join("\n")
        .concat('\n{"sessionId":"session_e","work'),
    );
    expect(await folders()).toEqual({
      session_a: "/w/app",
      session_b: "/w/lib",
      session_c: "/w/web",
      session_d: "/w/web",
      session_e: undefined,
      session_f: "/w/site",
    });
  });

  it("finds the folder of an older session on another machine", async () => {
    const hash = createHash("md5").update("/w/far").digest("hex");
    await writeDocument(join(home, `.kimi/sessions/box_${hash}/s1/context.jsonl`), '{"role":"user","content":"Go"}\n');
    await writeDocument(join(home, ".kimi/kimi.json"), { work_dirs: [{ path: "/w/far", kaos: "box" }] });
    expect(await folders()).toEqual({ s1: "/w/far" });
  });
});

describe("Cursor without a workspace", () => {
  const findFolder = async (rows: Record<string, object | string>, composer: object = {}, bubble: object = {}) => {
    const bubbles = { "bubbleId:c1:b1": { bubbleId: "b1", type: 1, text: "Go", createdAt: T * 1000, ...bubble } };
    const own = { composerId: "c1", createdAt: T * 1000, fullConversationHeadersOnly: [{ bubbleId: "b1", type: 1 }] };
    const all = { "composerData:c1": { ...own, ...composer }, ...bubbles, ...rows };
    await writeTables(globalDb(), {
      cursorDiskKV: Object.entries(all).map(([key, value]) => ({
        key,
        value: typeof value === "string" ? value : JSON.stringify(value),
      })),
    });
    return (await readAll(cursor().adapter)).find(({ ref }) => ref.key === "c1")?.summary.cwd;
  };

  it("takes the folder of a request's context", async () => {
    const layout = JSON.stringify({ rootPath: "/w/app", content: {} });
    expect(await findFolder({ "messageRequestContext:c1:b1": { projectLayouts: [layout] } })).toBe("/w/app");
    const tree = { listDirV2Result: { directoryTreeRoot: { absPath: "/w/lib" } } };
    expect(await findFolder({ "messageRequestContext:c1:b1": { projectLayouts: ["{", tree] } })).toBe("/w/lib");
    expect(await findFolder({ "messageRequestContext:c2:b1": { projectLayouts: [layout] } })).toBeUndefined();
  });

  it("takes the folder that the conversation or a bubble names", async () => {
    expect(await findFolder({}, { trackedGitRepos: [{ repoPath: "/w/repository" }] })).toBe("/w/repository");
    expect(await findFolder({}, {}, { workspaceUris: ["file:///w/my%20app"] })).toBe("/w/my app");
    expect(await findFolder({}, {}, { workspaceProjectDir: "/w/dir" })).toBe("/w/dir");
    expect(await findFolder({}, {}, { workspaceUris: ["vscode-remote://ssh/w"] })).toBeUndefined();
  });

  it("takes the folder of the conversation that started it", async () => {
    const child = { subagentInfo: { parentComposerId: "p1" } };
    const layout = JSON.stringify({ rootPath: "/w/app" });
    const parent = { composerId: "p1", createdAt: T * 1000, fullConversationHeadersOnly: [] };
    const context = { "messageRequestContext:p1:b1": { projectLayouts: [layout] } };
    expect(await findFolder({ "composerData:p1": parent, ...context }, child)).toBe("/w/app");
    const workspaceIdentifier = { id: "x", uri: { fsPath: "/w/lib" } };
    expect(await findFolder({ "composerData:p1": { ...parent, workspaceIdentifier } }, child)).toBe("/w/lib");
  });
});
