import type { PlaybookTurn } from "../../src/schema/playbook.ts";

/** Says no to who asks for its shutdown. */
export function refusesShutdown(reason: string): PlaybookTurn {
  const input = { type: "shutdown_response", request_id: "{{request_id}}", approve: false, content: reason };
  return { on: { contains: "Shutdown request" }, tools: [{ name: "SendMessage", input }] };
}
