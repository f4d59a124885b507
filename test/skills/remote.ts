/** A real bare repository to import from: files as they are, or trees put together by hand. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { exec } from "sessarc/files";

export interface RemoteFile {
  text: string;
  /** Default 100644. */
  mode?: string;
}

/** By path; a text is a plain file. Names may be what no file system takes. */
export type RemoteFiles = Readonly<Record<string, string | RemoteFile>>;

export interface Remote {
  url: string;
  folder: string;
  /** Runs git in it; answers what it wrote, without the last newline. */
  git(args: readonly string[], input?: string): Promise<string>;
  /** A commit with exactly these files on `branch`; answers its hash. */
  commit(files: RemoteFiles, branch?: string): Promise<string>;
}

export async function createRemote(home: string, name = "skills.git"): Promise<Remote> {
  const folder = join(home, name);
  await mkdir(folder, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" },
  };
  const git = async (args: readonly string[], input?: string) => {
    const done = await exec("git", ["--git-dir", folder, ...args], { env, input });
    if (done.code !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
    return done.stdout.toString().replace(/\n$/, "");
  };
  await git(["init", "--quiet", "--bare", "--initial-branch=main", "--template=", folder]);
  await mkdir(join(folder, "hooks"));

  const blobs = new Map<string, Promise<string>>();
  const blob = (text: string) => {
    const hash = blobs.get(text) ?? git(["hash-object", "-w", "--stdin"], text);
    blobs.set(text, hash);
    return hash;
  };

  /** A tree object of what is below one folder; `mktree` takes any name. */
  async function tree(files: ReadonlyMap<string, RemoteFile>): Promise<string> {
    const lines: string[] = [];
    const folders = new Map<string, Map<string, RemoteFile>>();
    for (const [path, file] of files) {
      const slash = path.indexOf("/");
      if (slash >= 0) {
        const inner = folders.get(path.slice(0, slash)) ?? new Map<string, RemoteFile>();
        folders.set(path.slice(0, slash), inner.set(path.slice(slash + 1), file));
        continue;
      }
      const mode = file.mode ?? "100644";
      const hash = mode === "160000" ? file.text : await blob(file.text);
      lines.push(`${mode} ${mode === "160000" ? "commit" : "blob"} ${hash}\t${path}`);
    }
    for (const [name, inner] of folders) lines.push(`040000 tree ${await tree(inner)}\t${name}`);
    return git(["mktree", "-z", "--missing"], lines.map((line) => `${line}\0`).join(""));
  }

  return {
    url: `file://${folder}`,
    folder,
    git,
    async commit(files, branch = "main") {
      const all = new Map(
        Object.entries(files).map(([path, file]) => [path, typeof file === "string" ? { text: file } : file]),
      );
      const parent = await git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]).catch(() => "");
      const hash = await git(["commit-tree", await tree(all), "-m", "change", ...(parent ? ["-p", parent] : [])]);
      await git(["update-ref", `refs/heads/${branch}`, hash]);
      return hash;
    },
  };
}
