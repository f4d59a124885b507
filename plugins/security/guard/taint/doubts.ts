/** What the user is asked about: calls that are not certain to show a secret, by kind. */

const DOUBTS = {
  "prints-credentials": {
    rule: "Prints credentials",
    text: (what: string) =>
      `${what} prints a credential, and the model would see it. Pass it on in a variable or a pipe instead.`,
  },
  "credential-store": {
    rule: "Credential store",
    text: (what: string) =>
      `${what} holds credentials, and the model would see them. Use the client that signs in with it instead.`,
  },
  "hidden-code": {
    rule: "Runs hidden code",
    text: (what: string) =>
      `${what} runs code that is encoded or comes from the network. Store it in a file and read it first.`,
  },
  "typed-password": {
    rule: "Typed password",
    text: (what: string) =>
      `the command contains a value that looks like a password (${what}). Pass it in a variable or on standard input instead.`,
  },
  "probable-secret": {
    rule: "Probable secret",
    text: (what: string) => `${what} probably holds a secret, and the model would see it.`,
  },
} as const;

export interface Doubt {
  kind: keyof typeof DOUBTS;
  /** What the call runs or shows, as the answer names it. */
  what: string;
  /** The findings of the call have it already. */
  found?: true;
}

/** The answer about a doubt. */
export const toQuestion = ({ kind, what }: Doubt): string => `sessarc: ${DOUBTS[kind].text(what)}`;

/** The row about a doubt in the findings of a call. */
export const toFinding = ({ kind, what }: Doubt) => ({
  ruleId: kind,
  rule: DOUBTS[kind].rule,
  field: "tool_input",
  confidence: "probable" as const,
  masked: what,
});
