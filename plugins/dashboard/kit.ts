/**
 * `sessarc/kit`: parts for a plugin's page that look and behave as the dashboard's own. In the dashboard an import of it, as of `vue`, answers the page's
 * own copy; anywhere else the parts are undefined.
 */
import type { DashboardKit } from "./ui.ts";

const { kit } =
  (globalThis as { [key: symbol]: { kit?: DashboardKit } | undefined })[Symbol.for("sessarc.dashboard")] ?? {};
const parts = kit ?? ({} as DashboardKit);

/** The frame of a page with its heading, which gets the focus when the page opens. Slot `actions`: beside the heading. */
export const Page: DashboardKit["Page"] = parts.Page;
/** A part of a page with its heading. Slot `actions` as above. */
export const Section: DashboardKit["Section"] = parts.Section;
/** A heading alone. `level` 2 (default) or 3. */
export const Heading: DashboardKit["Heading"] = parts.Heading;
/** A table; `caption` is read out and not shown. */
export const Table: DashboardKit["Table"] = parts.Table;
/** Nothing there yet: what it is and how it comes to be. */
export const Empty: DashboardKit["Empty"] = parts.Empty;
/** What went wrong, with code and remedy where it is the API's error, and a button when there is `onRetry`. */
export const Failure: DashboardKit["Failure"] = parts.Failure;
/** A button; `kind` is plain, quiet, primary or danger. */
export const Button: DashboardKit["Button"] = parts.Button;
/** One of the dashboard's icons. */
export const Icon: DashboardKit["Icon"] = parts.Icon;
/** One of many, chosen from a list that opens. */
export const Select: DashboardKit["Select"] = parts.Select;
