/** Team: many machines push their sessions to one server on PostgreSQL. Nothing of it is loaded before a team command is used. */
import { definePlugin } from "sessarc";
import "./errors.ts";

export type { Manifest, PortableSummary, Principal, TeamDatabase, TeamDatabaseOptions, TeamWriter } from "./types.ts";

export default definePlugin({ name: "team" });
