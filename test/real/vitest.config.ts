/** `npm run test:real`: the real tools, one after the other, because each of them takes a core for itself. */
import { mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const own = { test: { include: ["test/real/**/*.real.ts"], testTimeout: 180_000, fileParallelism: false } };
export default { ...mergeConfig(base, own), test: { ...base.test, ...own.test } };
