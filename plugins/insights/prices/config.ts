/** The key `priceTable` of the configuration: from where the published price table is fetched, and whether the service does so once a week. */
import type { ConfigKey } from "sessarc";
import { isLoopback } from "sessarc/serve";
import * as v from "valibot";

export type PriceUpdate = "weekly" | "never";

/** Published by genai-prices; its own package reads the same file. */
export const ADDRESS = "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json";

export const config = {
  priceTable: {
    schema: v.strictObject({
      /** `weekly`: the service fetches the table once a week, after the user has agreed to the address. */
      update: v.optional(v.picklist(["weekly", "never"]), "never"),
      address: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(200, "is longer than 200 characters"),
          v.check(isAllowed, "is not an https address without user name and password"),
        ),
        ADDRESS,
      ),
    }),
    settings: { update: {} },
  },
} as const satisfies Record<string, ConfigKey>;

/** https anywhere, http on this machine only: a network in between cannot replace the prices. */
function isAllowed(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === "" && url.password === "" && (url.protocol === "https:" || isLocalHttp(url));
}

export const isLocalHttp = ({ protocol, hostname }: URL): boolean => protocol === "http:" && isLoopback(hostname);
