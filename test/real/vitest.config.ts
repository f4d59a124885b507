/** `npm run test:real`: the real tools, one after the other, because each of them takes a core for itself. */
import { alias } from "../alias.ts";

const own = { include: ["test/real/**/*.real.ts"], testTimeout: 600_000, fileParallelism: false, maxWorkers: 1 };
export default { resolve: { alias }, test: own };
