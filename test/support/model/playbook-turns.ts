import type { PlaybookTurn } from "../../../src/schema/playbook.ts";

/** Builds a turn that refuses a shutdown request. */
export function refusesShutdown(reason: string): PlaybookTurn {
  const input = { type: "shutdown_response", request_id: "{{request_id}}", approve: false, content: reason };
  return { on: { contains: "Shutdown request" }, tools: [{ name: "SendMessage", input }] };
}
