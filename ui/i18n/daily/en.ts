/** Words of windows, budgets and notes. */
export const en = {
  windows: "Windows of your plans",
  "windows.text":
    "A window begins with the first reply after the previous one has ended. The limit is what the provider reported; nothing is guessed.",
  "windows.length": "Length of a window",
  "windows.hours": "5 hours",
  "windows.week": "7 days",
  "windows.none": "Nothing was used in this range.",
  "windows.start": "Window",
  "windows.until": "Until",
  "windows.tool": "Assistant",
  "windows.tokens": "Tokens",
  "windows.cost": "Cost",
  "windows.rate": "Cost an hour",
  "windows.limit": "Limit used",
  "windows.running": "Running",
  "windows.left": "{time} left",
  "windows.atEnd": "{cost} at the end if it goes on so",
  "windows.used": "{percent} of the limit used",
  "windows.usedAt": "Reported by the provider {time}",
  "windows.all": "All windows",
};

export type DailyWords = Record<keyof typeof en, string>;
