/** A refusal as JSON-RPC has it, for a request that belongs to no session. */
export function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
