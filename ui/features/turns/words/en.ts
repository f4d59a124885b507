/** What the system is asked to say of sessions. */
export const en = {
  bell: "Notify me when it waits or ends",
  on: "You are notified when this session waits for you or ends, while a page of the dashboard is open",
  off: "No more notifications of this session",
  refused: "Notifications are blocked. Allow them in the site settings of the browser.",
  waits: "It waits for you",
  ended: "The session ended",
};

export type TurnsWords = Record<keyof typeof en, string>;
