/** GET /recall. */
import { defineRoute, SessarcError } from "sessarc";
import * as v from "valibot";
import type { Answer } from "./answer/contract.ts";

const text = (most: number) => v.optional(v.pipe(v.string(), v.trim(), v.minLength(1, "is empty"), v.maxLength(most)));

export const routes = [
  defineRoute({
    method: "GET",
    path: "/recall",
    summary:
      "What earlier sessions say about a question, a file, a command or an error: decisions, failures with their fixes, corrections, messages; or none",
    query: v.object({
      /** A question in plain words. */
      q: text(4_000),
      /** A path, or the end of one. */
      file: text(4_096),
      /** A command as it would be run. */
      command: text(4_000),
      /** An error's text. */
      error: text(8_000),
      /** Only sessions of this project: its id, name or path. */
      project: text(4_096),
      /** A folder: evidence of the project around it comes first. */
      near: text(4_096),
      /** Of the answer's text, 50 to 8000; default 600. */
      tokens: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^\d{1,4}$/, "must be 50 to 8000"),
          v.transform(Number),
          v.minValue(50, "must be 50 to 8000"),
          v.maxValue(8_000, "must be 50 to 8000"),
        ),
      ),
    }),
    handler: async ({ kernel, query }): Promise<Answer> => {
      const { q: question, file, command, error, project, near, tokens } = query;
      if ([question, file, command, error].every((one) => one === undefined))
        throw new SessarcError("INVALID_INPUT", { reason: "Pass q, file, command or error" });
      const projectIds = project === undefined ? undefined : await kernel.inject("archive").projectIds(project);
      return kernel.inject("recall").answer({ question, file, command, error, projectIds, near, tokens });
    },
  }),
] as const;
