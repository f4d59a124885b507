/** What only `npm run test:long` does. */
export const LONG = process.env.SESSARC_TEST_LONG === "1";

/** How many rounds a property test makes: `all` with `npm run test:long`, by default an eighth of them and no fewer than `least`. */
export const rounds = (all: number, least = 10): number =>
  LONG ? all : Math.max(Math.min(all, least), Math.round(all / 8));
