/** How many rounds a property test makes: `all` with `npm run test:long`, by default a quarter of them and no fewer than `least`. */
export const rounds = (all: number, least = 10): number =>
  process.env.SESSARC_TEST_LONG === "1" ? all : Math.max(Math.min(all, least), Math.round(all / 4));
