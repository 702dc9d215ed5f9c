import { join } from "node:path";

/** Where the conversation of a session is kept (protocol.md section 1). */
export function transcriptPath(root: string, sessionId: string): string {
  return join(root, "teams-sessions", `${sessionId}.jsonl`);
}
