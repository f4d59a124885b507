/** A repository's tip, and skills read from its objects: nothing is ever checked out. */
import { dirname } from "node:path/posix";
import { SessarcError } from "sessarc";
import { loadFrontmatter } from "../content/frontmatter.ts";
import { badPath } from "../content/names.ts";
import { inSlices } from "../content/slices.ts";
import { byPath, LIMITS, type Tree, type TreeEntry, toDigest, toHash } from "../content/tree.ts";
import { isCommit, type Upstream } from "./address.ts";
import { failed, type Git } from "./git.ts";

interface Tip {
  commit: string;
  /** Full name of the ref, or the commit asked for. */
  name: string;
}

/** A folder with a SKILL.md in a commit. */
interface RemoteSkill {
  /** "" for the root. */
  path: string;
  /** git's id of the folder. */
  tree: string;
  nodes: Node[];
}

interface Node {
  mode: string;
  type: string;
  hash: string;
  size: number;
  /** Within the repository. */
  path: string;
}

export interface Content {
  tree: Tree;
  bytes: Map<string, Buffer>;
  name: string;
  description: string;
}

/** `ls-remote`: the commit a ref names now. Throws SKILL_UPSTREAM_GONE. */
export async function findTip(git: Git, { url, ref }: Pick<Upstream, "url" | "ref">): Promise<Tip> {
  if (ref !== undefined && isCommit(ref)) return { commit: ref, name: ref };
  const wanted =
    ref === undefined ? ["HEAD"] : ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const result = await git.run([
    "ls-remote",
    "--exit-code",
    "--",
    url,
    ...wanted,
    ...wanted.map((name) => `${name}^{}`),
  ]);
  if (result.code === 2) throw new SessarcError("SKILL_UPSTREAM_GONE", { url, ref: ref ?? "HEAD" });
  if (result.code !== 0) throw failed(url, result);
  const refs = new Map(
    result.stdout
      .toString()
      .split("\n")
      .flatMap((line) => {
        const [commit, name] = line.split("\t");
        return commit && name && isCommit(commit) ? [[name, commit] as const] : [];
      }),
  );
  for (const name of wanted) {
    // An annotated tag is peeled to its commit.
    const commit = refs.get(`${name}^{}`) ?? refs.get(name);
    if (commit) return { commit, name };
  }
  throw new SessarcError("SKILL_UPSTREAM_GONE", { url, ref: ref ?? "HEAD" });
}

/** Fetches the tip alone, shallow. Answers the commit that came: the ref may have moved since. */
export async function fetchTip(git: Git, url: string, tip: Tip): Promise<string> {
  const { folder } = git;
  const fetched = await git.run([
    `--git-dir=${folder}`,
    ...[
      "fetch",
      "--quiet",
      "--depth=1",
      "--no-tags",
      "--no-recurse-submodules",
      "--no-write-commit-graph",
      "--end-of-options",
    ],
    url,
    `${tip.name}:refs/sessarc/tip`,
  ]);
  if (fetched.code !== 0) throw failed(url, fetched);
  const result = await git.run([
    `--git-dir=${folder}`,
    "rev-parse",
    "--verify",
    "--quiet",
    "refs/sessarc/tip^{commit}",
  ]);
  const commit = result.stdout.toString().trim();
  if (result.code !== 0 || !isCommit(commit)) throw failed(url, result);
  return commit;
}

/** A hundred thousand lines are ordinary. */
function* nodesIn(listing: Buffer): Generator<void, Node[]> {
  const nodes: Node[] = [];
  for (let from = 0; ; ) {
    const to = listing.indexOf(0, from);
    if (to < 0) return nodes;
    const match = /^(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-)\t(.+)$/s.exec(listing.toString("utf8", from, to));
    from = to + 1;
    if (!match) continue;
    const [, mode = "", type = "", hash = "", size = "0", name = ""] = match;
    if (nodes.push({ mode, type, hash, size: Number(size) || 0, path: name }) % 1_000 === 0) yield;
  }
}

/** Folders with a SKILL.md at or below `path`; a skill inside another one is part of that. */
export async function findSkills(git: Git, url: string, commit: string, path = ""): Promise<RemoteSkill[]> {
  const listing = await git.run([`--git-dir=${git.folder}`, "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit]);
  if (listing.code !== 0) throw failed(url, listing);
  const nodes = await inSlices(nodesIn(listing.stdout));
  const homes = new Set(
    nodes
      .filter((node) => node.path === "SKILL.md" || node.path.endsWith("/SKILL.md"))
      .map((node) => (node.path === "SKILL.md" ? "" : dirname(node.path)))
      .filter((home) => within(path, home)),
  );
  if (homes.has("")) {
    const root = await git.run([`--git-dir=${git.folder}`, "rev-parse", "--verify", "--quiet", `${commit}^{tree}`]);
    const files = nodes.filter((node) => node.type !== "tree");
    return [{ path: "", tree: root.stdout.toString().trim(), nodes: files }];
  }
  // A folder is followed by all that is in it: one pass, there may be a hundred thousand of them.
  const skills = new Map<string, RemoteSkill>();
  let outer: RemoteSkill | undefined;
  for (const node of nodes) {
    if (outer && node.path.startsWith(`${outer.path}/`)) {
      if (node.type !== "tree") outer.nodes.push(node);
    } else if (node.type === "tree" && homes.has(node.path)) {
      outer = skills.get(node.path) ?? { path: node.path, tree: node.hash, nodes: [] };
      skills.set(node.path, outer);
    }
  }
  return [...skills.values()].sort(byPath);
}

const within = (folder: string, path: string) => folder === "" || path === folder || path.startsWith(`${folder}/`);

/**
 * The skill's files from the object store. Answers a reason instead when it must not be taken: links, submodules, LFS pointers, names
 * that are no plain files, over the limits, no valid SKILL.md.
 */
export async function readSkill(git: Git, url: string, skill: RemoteSkill): Promise<Content | { reason: string }> {
  const refused = refuse(skill);
  if (refused) return { reason: refused };
  const inner = (path: string) => (skill.path === "" ? path : path.slice(skill.path.length + 1));
  const blobs = await readBlobs(git, url, skill.nodes);
  const entries: TreeEntry[] = [];
  const folders = new Set<string>();
  const bytes = new Map<string, Buffer>();
  let size = 0;
  for (const { path, mode, hash } of skill.nodes) {
    const content = blobs.get(hash);
    if (!content) return { reason: `${path} is not in the repository` };
    if (content.length < 1024 && content.toString("latin1").startsWith("version https://git-lfs.github.com/spec/"))
      return { reason: `${path} is a pointer to a large file that is not in the repository` };
    const digest = toDigest(content);
    bytes.set(digest, content);
    size += content.length;
    entries.push({
      path: inner(path),
      kind: "file",
      mode: mode === "100755" ? 0o755 : 0o644,
      size: content.length,
      hash: digest,
    });
    for (let folder = dirname(inner(path)); folder !== "."; folder = dirname(folder)) folders.add(folder);
  }
  for (const path of folders) entries.push({ path, kind: "folder", mode: 0o755 });
  entries.sort(byPath);
  const file = entries.find((entry) => entry.path === "SKILL.md");
  const text = file?.kind === "file" ? bytes.get(file.hash)?.toString("utf8") : undefined;
  if (text === undefined) return { reason: "SKILL.md is not a file" };
  const folder = skill.path === "" ? undefined : skill.path.split("/").at(-1);
  const front = (await loadFrontmatter())(text, folder);
  if ("fault" in front) return { reason: `SKILL.md, line ${front.fault.line}: ${front.fault.message}` };
  const name =
    front.name ??
    folder ??
    url
      .split("/")
      .at(-1)
      ?.replace(/\.git$/, "") ??
    "skill";
  return { tree: { entries, hash: toHash(entries), size, skipped: [] }, bytes, name, description: front.description };
}

function refuse({ nodes, path: home }: RemoteSkill): string | undefined {
  const seen = new Map<string, string>();
  let size = 0;
  if (nodes.length > LIMITS.files) return `It has over ${LIMITS.files} files`;
  for (const { mode, path, size: bytes } of nodes) {
    if (mode === "120000") return `${path} is a link`;
    if (mode === "160000") return `${path} is a submodule`;
    if (mode !== "100644" && mode !== "100755" && mode !== "100664") return `${path} is not a plain file`;
    const bad = badPath(path);
    if (bad) return `${JSON.stringify(path)} ${bad}`;
    const inner = home === "" ? path : path.slice(home.length + 1);
    if (inner.split("/").length > LIMITS.depth) return `${path} is deeper than ${LIMITS.depth} folders`;
    // One of the two would be lost where letters of both cases are one; a folder and a file of one name, too.
    const parts = inner.normalize("NFC").split("/");
    for (let i = 1; i <= parts.length; i++) {
      const part = parts.slice(0, i).join("/");
      const known = seen.get(part.toLowerCase());
      if (known !== undefined && (known !== part || i === parts.length))
        return `${path} differs from another file in case alone`;
      seen.set(part.toLowerCase(), part);
    }
    size += bytes;
    if (size > LIMITS.bytes) return `It is over ${LIMITS.bytes / 2 ** 20} MiB`;
  }
  return undefined;
}

async function readBlobs(git: Git, url: string, nodes: readonly Node[]): Promise<Map<string, Buffer>> {
  const wanted = [...new Set(nodes.map((node) => node.hash))];
  const result = await git.run([`--git-dir=${git.folder}`, "cat-file", "--batch"], {
    input: `${wanted.join("\n")}\n`,
    maxBytes: LIMITS.bytes + wanted.length * 128,
  });
  if (result.code !== 0) throw failed(url, result);
  const blobs = new Map<string, Buffer>();
  const { stdout } = result;
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(10, at);
    if (end < 0) break;
    const [hash = "", type, size] = stdout.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (type !== "blob") continue;
    blobs.set(hash, Buffer.from(stdout.subarray(at, at + Number(size))));
    at += Number(size) + 1;
  }
  return blobs;
}
