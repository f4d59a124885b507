/** GET /git/verify and POST /git/attest. */
import { defineRoute, type Kernel } from "sessarc";
import * as v from "valibot";
import { named, readPlace } from "../place.ts";
import { findProblems } from "./policy.ts";
import { type Envelope, readSigningKey, signStatement, toPem, toStatement } from "./statement.ts";
import { readVerification, type Verification } from "./verify.ts";

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const query = {
  /** Id, name or path; without it the repository around `path`. */
  project: v.optional(text),
  /** An absolute path in the repository, where no project is named. */
  path: v.optional(text),
  /** A commit, a branch, `base..head`, or `last`. */
  range: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(400)), "last"),
};

export interface VerifyAnswer extends Verification {
  /** What the policy of the configuration forbids, in sentences. */
  problems: string[];
}

async function answer(
  kernel: Kernel,
  { project, path = ".", range }: { project?: string | undefined; path?: string | undefined; range: string },
): Promise<VerifyAnswer> {
  try {
    const found = await readVerification(kernel, await readPlace(kernel, project, path), range);
    return { ...found, problems: findProblems(found, kernel.config.verify) };
  } catch (error) {
    throw named(error, project ?? path);
  }
}

const verify = defineRoute({
  method: "GET",
  path: "/git/verify",
  meta: { team: "repositories" },
  summary: "Who wrote the lines of a range of commits, how they were checked, and whether secrets passed",
  query: v.object(query),
  handler: ({ kernel, query }): Promise<VerifyAnswer> => answer(kernel, query),
});

const attest = defineRoute({
  method: "POST",
  path: "/git/attest",
  summary: "The same as an in-toto statement, signed with the key of this machine, which the first call makes",
  body: v.strictObject(query),
  handler: async ({ kernel, body }): Promise<{ envelope: Envelope; publicKey: string }> => {
    const { problems: _, ...found } = await answer(kernel, body);
    const key = await readSigningKey(kernel.storage.path(KEY_FILE));
    return { envelope: signStatement(toStatement(found), key), publicKey: toPem(key) };
  },
});

/** In the data directory. */
export const KEY_FILE = "attestation-key.pem";

export const verifyRoutes = [verify, attest] as const;
