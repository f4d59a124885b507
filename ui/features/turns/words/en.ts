/** What the system is asked to say of sessions. */
export const en = {
  bell: "Notify me when it waits or ends",
  on: "You are notified when this session waits for you or ends, while a page of the dashboard is open",
  off: "No more notifications of this session",
  refused: "Notifications are blocked. Allow them in the site settings of the browser.",
  waits: "It waits for you",
  ended: "The session ended",
  title: "Notifications",
  hint: "The bell of a live session has this browser tell when its answer is complete and nothing follows, or when the session ends. It works while a page of the dashboard is open, also in the background.",
  none: "No session is followed.",
  some: "{n} followed",
  allow: "Allow notifications",
  stop: "No notifications of {title}",
};

export type NotifyWords = Record<keyof typeof en, string>;
