/** `sessarc team token`: a token that only reads, for MCP clients and scripts. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { MadeToken } from "../client.ts";
import { textFlag } from "./_ask.ts";

/** Of the entry in an MCP client's configuration. */
const ENTRY = "sessarc-team";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("`sessarc team token` takes no words; --name names the token");
  const days = textFlag(ctx, "days");
  if (days !== undefined && !/^\d{1,3}$/.test(days)) throw new UsageError("--days takes a number from 1 to 365");
  const made = await send<MadeToken>(ctx, "POST", "/team/tokens", {
    server: textFlag(ctx, "server"),
    name: textFlag(ctx, "name"),
    ...(days !== undefined && { days: Number(days) }),
  });
  const { address, id, token, expires } = made;
  if (ctx.json) {
    ctx.out(JSON.stringify(made));
    return 0;
  }
  const url = `${address}/mcp`;
  const headers = { Authorization: `Bearer ${printable(token)}` };
  const header = `Authorization: ${headers.Authorization}`;
  ctx.out(printable(token));
  ctx.err(`Reads what you may read on ${address}, until ${printable(expires.slice(0, 10))}. It is shown once.`);
  ctx.err(`\`sessarc team tokens --revoke ${printable(id)}\` ends it.`);
  ctx.err("\nClaude Code:");
  ctx.err(`  claude mcp add --transport http ${ENTRY} ${url} --header "${header}"`);
  ctx.err("Clients with a JSON configuration:");
  ctx.err(`  ${JSON.stringify({ mcpServers: { [ENTRY]: { type: "http", url, headers } } })}`);
  return 0;
}
