/** A repository with skills, and a kernel that may read it. */
import type { GitImport } from "../../plugins/index.ts";
import type { TestKernel } from "../kernel.ts";
import { createRemote, type Remote, type RemoteFiles } from "./remote.ts";
import { skillKernel } from "./world.ts";

export const env = { SESSARC_ALLOW_FILE_REMOTES: "1", PATH: process.env.PATH ?? "" };

export async function setUp(files: RemoteFiles): Promise<{ t: TestKernel; remote: Remote; commit: string }> {
  const t = await skillKernel({ env });
  const remote = await createRemote(t.home);
  return { t, remote, commit: await remote.commit(files) };
}

export const fetchFrom = (t: TestKernel, body: object) =>
  t.send<GitImport & { code: string; message: string }>("POST", "/api/skills/github", body);
