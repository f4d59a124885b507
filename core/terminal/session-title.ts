/** What a list calls a session. */
import { printable } from "../utils/printable.ts";
import { oneLine } from "../utils/text.ts";

interface Titled {
  id: string;
  name?: string | null | undefined;
  title?: string | null | undefined;
  firstPrompt?: string | null | undefined;
}

/** Its name, title, first prompt or ID, on one line. */
export const sessionTitle = ({ name, title, firstPrompt, id }: Titled): string =>
  oneLine(printable(name ?? title ?? firstPrompt ?? id));
