/** Pages of the guides that Help lists, those for every user first. */
export const GROUPS = [
  { key: "start", pages: ["getting-started", "concepts", "troubleshooting"] },
  {
    key: "daily",
    pages: ["guides/rescue", "guides/undelete", "guides/blame", "guides/shares", "guides/replay", "guides/backup"],
  },
  { key: "tools", pages: ["guides/guard", "guides/hub", "guides/skills", "guides/team"] },
  {
    key: "reference",
    pages: [
      "reference/commands",
      "reference/configuration",
      "reference/errors",
      "guides/plugins",
      "reference/routes",
      "security-model",
    ],
  },
] as const;
