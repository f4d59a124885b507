/** What the compiler must know about routes: checked by tsc, run for form's sake. */
import { defineRoute, type RoutesOf } from "sessarc";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import type { PathParams } from "../../core/contract/route.ts";

const routes = [
  defineRoute({
    method: "GET",
    path: "/cups/:id/stains/:stain",
    summary: "Stain",
    query: v.object({ days: v.optional(v.pipe(v.string(), v.transform(Number))) }),
    handler: ({ params, query, body }) => {
      expectTypeOf(params).toEqualTypeOf<{ readonly id: string; readonly stain: string }>();
      expectTypeOf(query).toEqualTypeOf<{ days?: number | undefined }>();
      expectTypeOf(body).toEqualTypeOf<undefined>();
      return { id: params.id, days: query.days ?? null };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/cups",
    summary: "Add",
    body: v.object({ name: v.string(), size: v.optional(v.pipe(v.unknown(), v.transform(Number))) }),
    handler: async ({ body }) => {
      expectTypeOf(body.name).toEqualTypeOf<string>();
      return { name: body.name };
    },
  }),
] as const;
type Routes = RoutesOf<typeof routes>;

describe("types", () => {
  it("params come from the path", () => {
    expectTypeOf<PathParams<"/share/:token">>().toEqualTypeOf<{ readonly token: string }>();
    expectTypeOf<PathParams<"/a/:b/c/:d">>().toEqualTypeOf<{ readonly b: string; readonly d: string }>();
    expectTypeOf<PathParams<"/files/**:rest">>().toEqualTypeOf<{ readonly rest: string }>();
    expectTypeOf<PathParams<"/**">>().toEqualTypeOf<{ readonly _: string }>();
    expectTypeOf<keyof PathParams<"/cups">>().toEqualTypeOf<never>();
  });

  it("a list of routes becomes what a client needs", () => {
    expectTypeOf<keyof Routes>().toEqualTypeOf<"GET /cups/:id/stains/:stain" | "POST /cups">();
    type Stain = Routes["GET /cups/:id/stains/:stain"];
    expectTypeOf<Stain["params"]>().toEqualTypeOf<{ readonly id: string; readonly stain: string }>();
    expectTypeOf<Stain["query"]>().toEqualTypeOf<{ days?: string | undefined }>();
    expectTypeOf<Stain["response"]>().toEqualTypeOf<{ id: string; days: number | null }>();
    type Add = Routes["POST /cups"];
    expectTypeOf<Add["body"]>().toEqualTypeOf<{ name: string; size?: unknown }>();
    expectTypeOf<Add["response"]>().toEqualTypeOf<{ name: string }>();
  });
});
