/** English, what a deletion says about the copies on a team's server. */
export const en = {
  onServer:
    "{n} session of this is also on the team's server {address}.|{n} sessions of this are also on the team's server {address}.",
  withdraw: "Withdraw there first, for everyone in the team",
  stays: "Otherwise the team keeps its copy; `sessarc team withdraw` removes it later.",
};

export type TeamWords = Record<keyof typeof en, string>;
