import { expect, it } from "vitest";
import { serviceUrl, toServiceUrl } from "../../core/http/address.ts";
import { createTestKernel } from "../kernel.ts";

it.each([
  ["127.0.0.1", "http://127.0.0.1:4173/"],
  ["localhost", "http://localhost:4173/"],
  ["192.168.1.5", "http://192.168.1.5:4173/"],
  ["0.0.0.0", "http://127.0.0.1:4173/"],
  ["::", "http://127.0.0.1:4173/"],
  ["[::]", "http://127.0.0.1:4173/"],
  ["::1", "http://[::1]:4173/"],
  ["[::1]", "http://[::1]:4173/"],
])("a service on %s is reached at %s", (host, url) => {
  expect(toServiceUrl({ host, port: 4173 })).toBe(url);
});

it("a kernel that does not listen has the address of its configuration", async () => {
  const t = await createTestKernel({ config: { host: "[::1]", port: 4173 } });
  expect(serviceUrl(t.kernel)).toBe("http://[::1]:4173/");
  expect((await t.fetch("/api/status")).status).toBe(200);
});
