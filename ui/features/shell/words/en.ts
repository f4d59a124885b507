/** Words of shell. */
export const en = {
  "shell.nav": "Main",
  "shell.home": "sessarc, home",
  "nav.commands": "Commands",
  "shell.menu": "More",
  "tools.leaks": "{n} secret open|{n} secrets open",
  "sync.last": "Synced {ago}",
  "sync.inSync": "In sync",
  "sync.checked": "last checked {ago}",
  "sync.checkedAt": "last checked at",
  "sync.running": "Importing {share}",
  "sync.scanning": "Scanning…",
  "sync.unreachable": "Not reachable",
  "connection.lost": "Reconnecting",
  "connection.now": "Try now",
  "connection.hint": "The service does not answer. What is on the page stays.",
  "connection.back": "Connected again",
  "sync.hint": "Import what changed",
  "shell.screenLost": "This screen opens as soon as the service answers:",
  "shell.screenFailed": "This screen could not be loaded:",
  "sample.here": "Sample data",
  "sample.hint": "Nothing here is yours.",
  "sample.back": "Back to yours",
  "sample.ends": "It is removed when the service stops.",
};

export type ShellWords = Record<keyof typeof en, string>;
