import type { Answer } from "../../client.ts";

type Overview = Answer<"GET /rules/proposals">;
export type Proposed = Overview["proposals"][number];
export type Accepted = Overview["accepted"][number];
export type Dismissed = Overview["dismissed"][number];
