/** The published plugin suite, run as an author outside this repository would. */
import { definePlugin, defineRoute } from "sessarc";
import { testPlugin } from "sessarc/test";
import * as v from "valibot";
import { describe, expect, it } from "vitest";

const cups = definePlugin({
  name: "cups",
  migrations: ["create table cup (name text not null)"],
  routes: [
    defineRoute({
      method: "GET",
      path: "/cups",
      summary: "Every cup",
      handler: ({ kernel }) => kernel.storage.db.all("select name from cup"),
    }),
    defineRoute({
      method: "POST",
      path: "/cups",
      summary: "Add a cup",
      status: 201,
      body: v.object({ name: v.string() }),
      async handler({ kernel, body }) {
        await kernel.storage.db.run("insert into cup values (?)", [body.name]);
        return body;
      },
    }),
  ],
});

describe("cups", () =>
  testPlugin({
    plugin: cups,
    additionalTests({ kernel }) {
      it("keeps a cup", async () => {
        expect(await kernel().send("POST", "/api/cups", { name: "blue" })).toEqual({
          status: 201,
          body: { name: "blue" },
        });
        expect(await kernel().json("/api/cups")).toEqual([{ name: "blue" }]);
      });
    },
  }));
