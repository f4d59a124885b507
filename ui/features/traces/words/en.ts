/** Words of traces. */
export const en = {
  about:
    "The logs of these sessions were deleted before they were archived. Their prompts are left in the assistants' lists of prompts.",
  none: "No session has only its prompts left.",
  prompts: "{n} prompt|{n} prompts",
  more: "Show more",
  commits: "Commits of that time",
  forget: "Delete these prompts…",
  forgetTitle: "Delete these prompts",
  forgetText: "They leave the archive for good and are not read again. The assistant's own list is unchanged.",
};

export type TracesWords = Record<keyof typeof en, string>;
