/** `npm ci` of a fresh clone and `npm install` of the package print no warning about us. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./build-once.ts";

/** The oldest Node that `engines` of package.json allows. */
const NODE = 20;

/** Whether a range of npm's, as `^18 || >=20.19`, allows some version of that Node. */
const isAllowed = (range: string): boolean =>
  range.split("||").some((one) => {
    if (one.trim() === "*") return true;
    const [, sign = "", major = "0"] = /^\s*([<>=^~]*)\s*v?(\d+)/.exec(one) ?? [];
    return sign.startsWith("<") || (sign.startsWith(">") ? Number(major) <= NODE : Number(major) === NODE);
  });

const readJson = async <T>(name: string) => JSON.parse(await readFile(join(ROOT, name), "utf8")) as T;

it("runs no script when the package is installed", async () => {
  const { scripts } = await readJson<{ scripts: Record<string, string> }>("package.json");
  for (const name of ["preinstall", "install", "postinstall"]) expect(scripts).not.toHaveProperty(name);
});

it("has only packages that run on the oldest Node it allows", async () => {
  // npm leaves an optional package out that does not run here, and says nothing.
  type Locked = { optional?: boolean; engines?: { node?: string } };
  const { packages } = await readJson<{ packages: Record<string, Locked> }>("package-lock.json");
  const wrong = Object.entries(packages).filter(
    ([, { optional, engines }]) => !optional && engines?.node && !isAllowed(engines.node),
  );
  expect(wrong.map(([path, { engines }]) => `${path} ${engines?.node}`)).toEqual([]);
});

it("says of each package with an install script that it works without it", async () => {
  // npm names those without a decision after each installation.
  type Locked = { hasInstallScript?: boolean };
  const { packages } = await readJson<{ packages: Record<string, Locked> }>("package-lock.json");
  const { allowScripts } = await readJson<{ allowScripts: Record<string, boolean> }>("package.json");
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = withScript.map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(names)].sort());
  expect(Object.values(allowScripts)).not.toContain(true);
});
