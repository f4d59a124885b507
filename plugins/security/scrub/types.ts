/** A scrub on the wire. */

export interface ScrubSecret {
  /** As in the inbox. */
  id: string;
  ruleId: string;
  masked: string;
}

export interface ScrubSession {
  id: string;
  /** Places in its transcript, its stored log and the catalogue. */
  transcript: number;
  log: number;
  catalogue: number;
}

export interface ScrubOriginal {
  session: string;
  path: string;
  count: number;
  /** The copy of what the file was, which still holds the secrets; null: nothing was written. */
  backup: string | null;
}

export interface Scrubbed {
  /** False: nothing was changed, and the places are those that would be. */
  written: boolean;
  secrets: ScrubSecret[];
  sessions: ScrubSession[];
  /** Places of no session: catalogue, and files that were stored before a call destroyed them. */
  elsewhere: { catalogue: number; net: number };
  originals: ScrubOriginal[];
  /** What still holds a secret, and why. */
  left: { what: string; reason: string }[];
  /** Files of the data directory that hold one and stay as they are. */
  named: string[];
}

export interface ScrubState {
  /** Secrets that are marked as revoked and can be removed. */
  revoked: number;
  /** Removed so far. */
  secrets: ScrubSecret[];
  /** Sessions something was removed from. */
  sessions: number;
  /** Changed logs at assistants whose copies are still there. */
  backups: { session: string; path: string; backup: string; at: string }[];
}

export interface Unscrubbed {
  /** Logs that are again what they were. */
  restored: string[];
  left: { what: string; reason: string }[];
}
