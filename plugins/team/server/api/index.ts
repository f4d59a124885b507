/** Every route of the server's own: its API below `/team/api`, and the pages beside it. */
import type { RoutesOf } from "sessarc";
import type * as v from "valibot";
import type { ANSWERS } from "../../wire/answers.ts";
import { accountRoutes } from "./accounts.ts";
import { pageRoutes } from "./pages.ts";
import { pushRoutes } from "./push.ts";

const routes = [...accountRoutes, ...pushRoutes, ...pageRoutes] as const;

type Routes = RoutesOf<typeof routes>;

/** By path below `/team/api`: what a machine sends to the server. */
export type Api = {
  [K in keyof Routes as K extends `${infer M} /team/api${infer P}` ? `${M} ${P}` : never]: Routes[K];
};

type Plain<T> = T extends object ? { readonly [K in keyof T]: Plain<T[K]> } : T;
/** Routes that answer something else than machines expect. */
type Wrong = {
  [K in keyof typeof ANSWERS]: (K extends keyof Api ? Api[K]["response"] : undefined) extends Plain<
    v.InferInput<(typeof ANSWERS)[K]>
  >
    ? never
    : K;
}[keyof typeof ANSWERS];

export const serverRoutes: [Wrong] extends [never] ? typeof routes : Wrong = routes;
