/** Error codes of rules. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    PROPOSAL_NOT_FOUND: { id: string };
    RULE_NO_FOLDER: { project: string };
    RULE_REFUTED: { line: string };
    RULE_NOT_PROVABLE: { line: string; reason: string };
    RULE_PROOF_RUNNING: { id: string };
    RULE_PROOF_FAILED: { reason: string };
    RULE_PROOF_NOT_CONFIRMED: { command: string; given: boolean };
  }
}

export const errors = defineErrors({
  PROPOSAL_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No proposed, accepted or dismissed rule ${JSON.stringify(id.slice(0, 100))}`,
    fix: () => "`sessarc rules` lists proposals, accepted and dismissed rules with their ids.",
  },
  RULE_NO_FOLDER: {
    status: 422,
    why: ({ project }) => `The folder of the project ${project} is not on this machine`,
    fix: () => "Accept the rule where the project is, or write the line into its instructions by hand.",
  },
  RULE_REFUTED: {
    status: 409,
    why: ({ line }) => `The mistake happened with the line, too: ${line}`,
    fix: () => "Word it in another way in the instructions by hand, or prove it again.",
  },
  RULE_NOT_PROVABLE: {
    status: 422,
    why: ({ reason }) => `This rule cannot be proved: ${reason}`,
    fix: () => "Accept it without a proof; later sessions show whether the mistake still happens.",
  },
  RULE_PROOF_RUNNING: {
    status: 409,
    why: ({ id }) => `A proof of rule ${id} is under way`,
    fix: () => "Wait for its end, or stop it.",
  },
  RULE_PROOF_FAILED: {
    status: 502,
    why: ({ reason }) => `The proof broke off: ${reason}`,
    fix: () => "Try the command by hand with `sessarc replay <session> --with`, then prove the rule again.",
  },
  RULE_PROOF_NOT_CONFIRMED: {
    status: 409,
    why: ({ command, given }) =>
      given ? `Another command than the confirmed one would run: ${command}` : `The proof runs a command: ${command}`,
    fix: () =>
      "Read the command and the price, then send the command letter by letter as confirmCommand. Nothing was run.",
  },
});
