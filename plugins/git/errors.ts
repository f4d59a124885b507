/** What can go wrong with a repository, as answers. */
import { defineErrors } from "sessarc";

defineErrors({
  NO_REPOSITORY: {
    status: 422,
    why: ({ project }) => `${project} has no git repository`,
    fix: () => "Associate the project with a folder that is a git repository.",
  },
  COMMIT_NOT_FOUND: {
    status: 404,
    why: ({ commit }) => `No commit ${commit}`,
    fix: () => "GET /git/at names the commit of a time.",
  },
  FILE_NOT_FOUND: {
    status: 404,
    why: ({ commit, path }) => `No file ${path} in commit ${commit}`,
    fix: () => "Check the name, or commit the file first. GET /git/tree lists the files of a commit.",
  },
  OBJECT_MISSING: {
    status: 422,
    why: ({ hash }) => `Object ${hash} is not in this clone`,
    fix: () => "The clone is shallow, partial or damaged: fetch the object with git, then ask again.",
  },
  GIT_MISSING: { status: 422, why: () => "git is not installed", fix: () => "Install git 2.25 or later." },
  GIT_FAILED: {
    status: 502,
    why: ({ command }) => `git ${command} failed`,
    fix: () => "Run `git fsck` in the repository, then try again.",
  },
  GIT_TIMEOUT: {
    status: 504,
    why: ({ command, ms }) => `git ${command} did not answer in ${ms} ms`,
    fix: () => "Try again. A repository on a slow disk may need a larger `timeoutMs` of the plugin git.",
  },
});
