/** Where takeovers keep the originals. */
import { join } from "node:path";

export const takeoversIn = (dataDir: string): string => join(dataDir, "files", "backups", "mcp");
