/** Causality: which reads led to which changes. */
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Causality } from "./analyze.ts";
import { type Answers, createAnswers } from "./answers.ts";
import { migrations } from "./schema.ts";

export type { Causality, Change } from "./analyze.ts";
export type { Answers } from "./answers.ts";
export type { Cause, Relation } from "./relations.ts";
export type { SessionWaste } from "./waste.ts";

export const routes = [
  defineRoute({
    method: "GET",
    path: "/sessions/:id/causality",
    meta: { team: true },
    summary: "Which reads and searches led to which changes",
    handler: async ({ kernel, params }): Promise<Causality | Response> => {
      const row = await kernel.inject("archive").get(params.id);
      const body = await kernel.inject("causality").get(row);
      return new Response(body, {
        headers: { "content-type": "application/json; charset=utf-8", "content-length": String(body.length) },
      });
    },
  }),
] as const;

export default definePlugin({
  name: "causality",
  dependsOn: ["archive"],
  routes,
  migrations,
  setup(kernel) {
    kernel.hooks.hook("session:erase", ({ ids, write }) => {
      for (const id of ids) write.push(["delete from causality_waste where session = ?", [id]]);
    });
    kernel.provide("causality", createAnswers(kernel));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    causality: Answers;
  }
}
