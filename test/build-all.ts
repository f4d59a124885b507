/** What the whole run shares, made beside the checks: then no core waits for a build. */
import { builtDashboard, packedTarball } from "./built.ts";

await packedTarball();
await builtDashboard();
