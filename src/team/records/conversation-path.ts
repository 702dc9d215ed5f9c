import { isThere } from "../../os/files/file-parts.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { isSessionId } from "../../schema/names.ts";
import type { StatusRecord } from "../../schema/status.ts";
import type { TeamRef } from "../ref.ts";

/** Returns the path of an agent's conversation. The root may have been moved since the agent wrote its status. */
export function conversationPath(
  { home }: TeamRef,
  { transcript, sessionId }: Pick<StatusRecord, "transcript" | "sessionId">,
): string {
  if (isThere(transcript) || !isSessionId(sessionId)) return transcript;
  return transcriptPath(home.root, sessionId);
}
