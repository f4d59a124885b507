/** What the whole run shares, made beside the checks: then no core waits for a build. */
import { builtDashboard, packedTarball } from "./built.ts";
import { builtScripts } from "./scripts.ts";

await builtScripts();
await packedTarball();
await builtDashboard();
