/** What is known of where a session came from, and what is still to be settled of it: flags of the column `lineage`. */

import { marks, type Statement } from "sessarc";

/** `copied` of a session that was not compared with its origin yet: the origin is absent, or this run imported one of the two. */
export const UNKNOWN = -1;

/** Its log does not say where it came from: `forked_from` was found by the replies it repeats. */
export const LINKED = 1;
/** All of its text is copied so far: what is appended to it may be, too. */
export const FORK_ENDED = 2;
/** It has all of its origin's text: what is appended to the origin may already be in it. */
export const ORIGIN_ENDED = 4;
/** To be compared with its origin again. */
export const COMPARE = 8;
/** Who has its replies changed: its origin is to be found again. */
export const LINK = 16;

/** Flags that only the end of a run clears. */
export const OPEN = COMPARE | LINK;

/** Their origins are to be found again at the end of the run. */
export const linkAgain = (ids: readonly string[]): Statement => [
  `update session set lineage = lineage | ${LINK} where id in (${marks(ids)})`,
  [...ids],
];

/** The text of `id` grew: forks that had all of it are to be compared again. `all`: it is back, and may say more or less than before. */
export const compareForks = (id: string, all: boolean): Statement => [
  `update session set lineage = lineage | ${COMPARE} where forked_from = ?${all ? "" : ` and (lineage & ${ORIGIN_ENDED}) <> 0`}`,
  [id],
];
