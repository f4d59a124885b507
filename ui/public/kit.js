// Made available to plugins' pages by the import map: the dashboard's own parts, put here before the first of them is loaded.
export const { Button, Empty, Failure, Heading, Icon, Page, Section, Select, Table } =
  globalThis[Symbol.for("sessarc.dashboard")].kit;
