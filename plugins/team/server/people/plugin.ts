/** What a person's kernel has beyond a local one: whose sessions are whose, and the screen that shows it. */
import type { Plugin } from "sessarc";
import type { Directory } from "../accounts/directory.ts";
import { peopleScreen } from "./screen.ts";
import { viewRoutes } from "./view.ts";

export const teamView = (directory: Directory): Plugin => ({
  name: "team-view",
  dependsOn: ["archive", "insights"],
  routes: [...viewRoutes(directory), peopleScreen],
});
