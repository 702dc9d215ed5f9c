import { saveOutput } from "../../agent/background/output-file.ts";
import { ownSecrets } from "../../os/redact.ts";
import { MAX_IDLE_RESULT } from "../../protocol/messages.ts";
import { cutText } from "../../text/characters/cut-text.ts";

/**
 * Returns the last text of an agent for its idle notice. A very long text is cut, and names a file with the whole text, which the
 * lead may read without permission.
 * @param leadDirectory returns the lead's working directory
 */
export function noticeResult(text: string, leadDirectory: () => string): string {
  if (text.length <= MAX_IDLE_RESULT) return text;
  const { problem, path } = saveOutput(leadDirectory(), text, ownSecrets());
  const rest =
    problem === undefined ? `Read all of it in ${path}` : `The rest could not be saved: ${problem}`;
  return cutText(text, MAX_IDLE_RESULT, (missing) => `\n… (${missing}. ${rest})`);
}
