/** The server's own API: described by the schemas that validate it, each route with the right that its caller needs. */
import { expect, it, onTestFinished } from "vitest";
import { serverRoutes } from "../../plugins/team/server/api/index.ts";
import { findAccess } from "../../plugins/team/server/api/route.ts";
import { ask, invite, joinOwner, startServer } from "./node.ts";
import { engines } from "./postgres.ts";

interface Document {
  info: { title: string };
  paths: Record<
    string,
    Record<
      string,
      { requestBody?: { content: object }; responses: Record<string, { content: Record<string, { schema: object }> }> }
    >
  >;
}

it("is an OpenAPI document of every route below /team/api, with what it takes and answers", async () => {
  const [pglite] = engines();
  if (!pglite) throw new Error("no database");
  const server = await startServer(pglite);
  onTestFinished(() => server.close());
  const owner = await joinOwner(server);
  const { status, body } = await owner.ask<Document>("GET", "/team/api/openapi.json");
  expect(status).toBe(200);
  expect(body.info.title).toBe("sessarc team");
  const described = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  const api = serverRoutes.filter(({ path }) => path.startsWith("/team/api/"));
  expect(described.sort()).toEqual(api.map(({ method, path }) => `${method} ${path}`).sort());
  expect(
    body.paths["/team/api/devices/{id}"]?.delete?.responses["200"]?.content["application/json"]?.schema,
  ).toMatchObject({
    properties: { machines: { type: "array" }, invitations: { type: "integer" } },
  });
  expect(Object.keys(body.paths["/team/api/blobs/{sha256}"]?.put?.requestBody?.content ?? {})).toEqual([
    "application/gzip",
  ]);
  // It is for people and machines of the team; a read token reads sessions alone.
  expect((await ask(server.node, "GET", "/team/api/openapi.json")).status).toBe(401);
  const made = await owner.ask<{ token: string }>("POST", "/team/api/tokens", { name: "agent" });
  expect((await ask(server.node, "GET", "/team/api/openapi.json", { token: made.body.token })).status).toBe(403);
});

it("asks a right of every route, and refuses another method as such", async () => {
  for (const { method, path, meta } of serverRoutes)
    expect([method, path, findAccess(meta)?.scope]).not.toContain(undefined);
  const [pglite] = engines();
  if (!pglite) throw new Error("no database");
  const server = await startServer(pglite);
  onTestFinished(() => server.close());
  const mika = await invite(await joinOwner(server), "Mika");
  const answer = await mika.ask("PUT", "/team/api/people", {});
  expect([answer.status, answer.body.code, answer.headers.get("allow")]).toEqual([
    405,
    "METHOD_NOT_ALLOWED",
    "GET, HEAD",
  ]);
  expect((await mika.ask("DELETE", `/team/api/people/${mika.person}`, { private: "delete" })).status).toBe(403);
  expect((await mika.ask("GET", "/team/api/nothing")).status).toBe(404);
});
