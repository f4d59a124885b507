/** The page's one script: times in the reader's own zone. Without it they stand there in UTC. */
import { createHash } from "node:crypto";

export const SCRIPT =
  'for(const t of document.querySelectorAll("time")){const d=new Date(t.dateTime);if(isNaN(d))continue;' +
  't.title=d.toISOString();t.textContent="clock"in t.dataset?d.toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}):' +
  'd.toLocaleString([],{dateStyle:"medium",timeStyle:"short"})}';
export const SCRIPT_HASH = createHash("sha256").update(SCRIPT).digest("base64");
