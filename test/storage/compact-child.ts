/** Compacts a catalogue and is killed before the nth change on the disk: `compact-child <dir> <nth>` */
import { openDatabase } from "../../core/storage/database.ts";
import { killBefore } from "../kill-at.ts";
import { fill } from "./compact-fill.ts";

const [dir = "", nth] = process.argv.slice(2);
const kill = killBefore(Number(nth));
const db = openDatabase({ dir, onNotice: () => {} });
await fill(db);
kill.armed = true;
await db.compact();
kill.armed = false;
await db.close();
