/** GET, POST and DELETE /service/login: whether the service starts at login, and the entry that does it. */
import * as v from "valibot";
import {
  type LoginPlan,
  planLogin,
  readAsked,
  readLogin,
  removeLogin,
  writeAsked,
  writeLogin,
} from "../background/login.ts";
import type { Kernel } from "../contract/kernel.ts";
import { defineRoute } from "../contract/route.ts";

export interface LoginAnswer {
  /** The entry that is there; null without one. */
  login: { kind: string; path: string } | null;
  /** The user was asked before, and is not asked again. */
  asked: boolean;
  /** What would be written and run; null unless it was asked for. */
  plan: LoginPlan | null;
}

async function answer({ storage: { dataDir }, env }: Kernel, withPlan: boolean): Promise<LoginAnswer> {
  return {
    login: (await readLogin(dataDir)) ?? null,
    asked: await readAsked(dataDir),
    plan: withPlan ? await planLogin(dataDir, [], env) : null,
  };
}

export const loginRoutes = [
  defineRoute({
    method: "GET",
    path: "/service/login",
    summary: "Whether the service starts at login, and with `plan=1` what would be written for it",
    query: v.object({ plan: v.optional(v.picklist(["0", "1"])) }),
    handler: ({ kernel, query }) => answer(kernel, query.plan === "1"),
  }),
  defineRoute({
    method: "POST",
    path: "/service/login",
    summary: "Start the service at login (`start: true`), or record that the user does not want to be asked again",
    body: v.object({ start: v.boolean() }),
    handler: async ({ kernel, body }) => {
      const { storage, env } = kernel;
      await writeAsked(storage.dataDir);
      if (body.start) await writeLogin(storage.dataDir, await planLogin(storage.dataDir, [], env), env);
      return answer(kernel, false);
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/service/login",
    summary: "No longer start the service at login: the file is byte for byte what it was",
    handler: async ({ kernel }) => {
      await removeLogin(kernel.storage.dataDir, kernel.env);
      return answer(kernel, false);
    },
  }),
] as const;
