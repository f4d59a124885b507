/** What a person's kernel has beyond a local one: whose sessions are whose, the screen that shows it, and where repositories are. */
import type { AnyRoute, Plugin } from "sessarc";
import type { Space } from "../accounts/caller.ts";
import type { Directory } from "../accounts/directory.ts";
import { toRepositories } from "./repositories.ts";
import { peopleScreen } from "./screen.ts";
import { readOwnerNames, viewRoutes } from "./view.ts";

interface ViewParts {
  directory: Directory;
  /** Folder of repositories. */
  repositories: string | undefined;
  spaces: readonly Space[];
  /** Where people open the server. */
  address: () => string;
}

/** They read the directory of the server as a service of the person's kernel. */
export const personRoutes: readonly AnyRoute[] = [...viewRoutes, peopleScreen];

export const teamView = ({ directory, repositories, spaces, address }: ViewParts): Plugin => ({
  name: "team-view",
  dependsOn: ["archive", "insights"],
  setup(kernel) {
    kernel.provide("team-directory", directory);
    kernel.provide("repositories", toRepositories(kernel, repositories, spaces));
    kernel.provide("public-address", address);
    kernel.provide("owners", { namesOf: (sessions) => readOwnerNames(kernel, sessions) });
    // Where the server stores its data is nothing that its readers need.
    kernel.hooks.hook("status:collect", (report) => {
      report.dataDir = "";
    });
  },
  routes: personRoutes,
});
