/** `npm run test:real`: the real assistants, one at a time, because each of them takes a core for itself. */
import { alias } from "../alias.ts";

const own = { include: ["test/real/**/*.real.ts"], testTimeout: 600_000, hookTimeout: 600_000, fileParallelism: false, maxWorkers: 1 };
export default { resolve: { alias }, test: own };
