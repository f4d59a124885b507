/** Error codes of replay. */
import { defineErrors, type Nothing } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    COMMAND_NOT_CONFIRMED: { seq: number; command: string; given: boolean };
    REPLAY_NOT_STARTED: { id: string };
    REPLAY_STEP_NOT_FOUND: { id: string; seq: number };
    REPLAY_STEP_UNSUPPORTED: { seq: number; reason: string };
    REPLAY_STEP_DONE: { seq: number };
    REPLAY_OUT_OF_ORDER: { seq: number; next: number };
    REPLAY_STALE: { id: string };
    REPLAY_NOT_LAST: { seq: number; last: number };
    REPLAY_NOTHING_DONE: { id: string };
    REPLAY_CONTENT_LOST: { path: string };
    REPLAY_NOT_A_FILE: { path: string };
    REPLAY_FILE_TOO_LARGE: { path: string; bytes: number; limit: number };
    REPLAY_NO_ISOLATION: { reason: string };
    REPLAY_NO_FILE_BROWSER: Nothing;
    REPLAY_LEAVES_SANDBOX: { seq: number; reason: string };
    REPLAY_PATH_IMPOSSIBLE: { path: string; reason: string };
    REPLAY_NO_REPOSITORY: { command: string };
    REPLAY_NO_PROMPTS: { id: string };
    REPLAY_WITH_NOT_CONFIRMED: { command: string; prompts: number; given: boolean };
    REPLAY_NETWORK_OPEN: Nothing;
    REPLAY_WITH_RUNNING: { id: string };
    REPLAY_TOO_LARGE: { limit: number };
  }
}

const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;

export const errors = defineErrors({
  COMMAND_NOT_CONFIRMED: {
    status: 409,
    why: ({ seq, command, given }) =>
      given
        ? `Step ${seq} runs another command than the confirmed one: ${JSON.stringify(command)}`
        : `Step ${seq} runs a command: ${JSON.stringify(command)}`,
    fix: () => "Read the command, then send it letter by letter as confirmCommand. Nothing was run.",
  },
  REPLAY_NOT_STARTED: {
    status: 409,
    why: ({ id }) => `The replay of ${id} is not started`,
    fix: () => "POST /replay/start makes its sandbox.",
  },
  REPLAY_STEP_NOT_FOUND: {
    status: 404,
    why: ({ id, seq }) => `Message ${seq} of ${id} is not a step of its replay`,
    fix: () => "GET /sessions/:id/replay-plan lists the steps.",
  },
  REPLAY_STEP_UNSUPPORTED: {
    status: 422,
    why: ({ seq, reason }) => `Step ${seq} cannot be replayed: ${reason}`,
    fix: () => "Leave it out with skip: true.",
  },
  REPLAY_STEP_DONE: {
    status: 409,
    why: ({ seq }) => `Step ${seq} is done`,
    fix: () => "POST /replay/back takes the last step back.",
  },
  REPLAY_OUT_OF_ORDER: {
    status: 409,
    why: ({ seq, next }) => `Step ${seq} is not the next one; step ${next} is`,
    fix: () => "Go through the steps in order, leave one out with skip: true, or send outOfOrder: true.",
  },
  REPLAY_STALE: {
    status: 409,
    why: ({ id }) => `${id} was imported again, and steps that are done are no longer in it`,
    fix: () => "POST /replay/start makes a fresh sandbox.",
  },
  REPLAY_NOT_LAST: {
    status: 409,
    why: ({ seq, last }) => `Step ${seq} is not the last one that was done; step ${last} is`,
    fix: () => "Steps are taken back one by one, the last first.",
  },
  REPLAY_NOTHING_DONE: { status: 409, why: ({ id }) => `No step of the replay of ${id} is done` },
  REPLAY_CONTENT_LOST: {
    status: 422,
    why: ({ path }) => `What ${path} held before is neither in the sandbox nor in the repository any more`,
    fix: () => "POST /replay/start makes a fresh sandbox.",
  },
  REPLAY_NOT_A_FILE: {
    status: 422,
    why: ({ path }) => `${path} in the sandbox is not a plain file`,
    fix: () => "Leave the step out with skip: true.",
  },
  REPLAY_FILE_TOO_LARGE: {
    status: 422,
    why: ({ path, bytes, limit }) => `${path} has ${mib(bytes)}; replay edits files up to ${mib(limit)}`,
  },
  REPLAY_NO_ISOLATION: {
    status: 422,
    why: ({ reason }) => `Commands cannot be isolated on this machine: ${reason}`,
    fix: () =>
      "Install bubblewrap (Linux), or start the replay with allowUnisolated: true; its commands then run with your own rights.",
  },
  REPLAY_LEAVES_SANDBOX: {
    status: 422,
    why: ({ seq, reason }) => `Step ${seq} is refused without isolation: ${reason}. Nothing was run.`,
    fix: () => "Leave it out with skip: true, or install bubblewrap (Linux) so that commands run isolated.",
  },
  REPLAY_PATH_IMPOSSIBLE: {
    status: 422,
    why: ({ path, reason }) => `${path} cannot be a file of the sandbox: ${reason}`,
    fix: () => "Leave the step out with skip: true.",
  },
  REPLAY_NO_REPOSITORY: {
    status: 422,
    why: ({ command }) => `The sandbox's repository could not be made: \`git ${command}\` failed`,
    fix: () => "Check that the project's repository is whole (`git fsck`), or leave the command out with skip: true.",
  },
  REPLAY_NO_PROMPTS: {
    status: 422,
    why: ({ id }) => `Session ${id} has no prompt to give to an assistant`,
    fix: () => "Choose a session with a prompt of the user.",
  },
  REPLAY_WITH_NOT_CONFIRMED: {
    status: 409,
    why: ({ command, prompts, given }) =>
      given
        ? `The confirmed text is not the command: ${JSON.stringify(command)}`
        : `${prompts} prompts would be given to ${JSON.stringify(command)}`,
    fix: () =>
      "Read the command, then send exactly it as confirmCommand (`followUp` after a line end). Nothing was run.",
  },
  REPLAY_WITH_RUNNING: {
    status: 409,
    why: ({ id }) => `The prompts of ${id} are being given to an assistant already`,
    fix: () => "Wait for its end (GET /replay/with), or stop it (POST /replay/with/stop).",
  },
  REPLAY_NETWORK_OPEN: {
    status: 422,
    why: () => "Commands are not isolated on this machine, so the assistant would have the network",
    fix: () => "Send network: true if it may use the network.",
  },
  REPLAY_TOO_LARGE: {
    status: 422,
    why: ({ limit }) => `The sandbox would hold more than ${mib(limit)}`,
    fix: () => "Set the option `sandboxBytes` of the plugin replay to a larger number, or leave the step out.",
  },
  REPLAY_NO_FILE_BROWSER: {
    status: 422,
    why: () => "No file browser was found on this machine",
    fix: () => "The answer of POST /replay/start has the sandbox's path.",
  },
});
