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
  "days.title": "Days that only {tools} counted",
  "days.text":
    "The logs of {n} day were deleted before they were archived. These are the assistant's own figures; they are in no sum above.|The logs of {n} days were deleted before they were archived. These are the assistant's own figures; they are in no sum above.",
  "days.sessions": "{n} session in all.|{n} sessions in all.",
};

export type TracesWords = Record<keyof typeof en, string>;
