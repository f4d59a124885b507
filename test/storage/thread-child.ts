/** The catalogue's thread as one script that Node can run. */
import "../../core/storage/thread-entry.ts";
