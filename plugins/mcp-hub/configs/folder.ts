/** Where takeovers keep the originals. */
import type { Storage } from "sessarc";

export const takeoversIn = ({ path }: Pick<Storage, "path">): string => path("files", "backups", "mcp");
