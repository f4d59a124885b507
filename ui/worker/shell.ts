/** The data the build passes to the service worker, and which addresses belong to the page. */

export interface Shell {
  /** Of the build: another one as soon as one of its files is. */
  version: string;
  /** Script of the page, named in it. */
  entry: string;
  /** Kept from the start: what every screen is made of. */
  first: readonly string[];
  /** Kept once they were used: colours of a language, letters of other scripts. */
  later: readonly string[];
  /** Files without a hash in their name. */
  plain: readonly string[];
}

/** As plugins/dashboard/page.ts has it: what other plugins answer is never the page. */
export const isPageAddress = (path: string) => !/^\/(api|mcp|share|plugins|auth)(\/|$)/.test(path);
