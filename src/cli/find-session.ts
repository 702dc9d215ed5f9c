import { TeamError } from "../errors.ts";
import { listDir } from "../os/files/fs.ts";
import { sessionsDirectory, transcriptPath } from "../protocol/paths.ts";
import { isSessionId } from "../schema/names.ts";
import type { Home } from "../team/ref.ts";

/** Minimum characters of an id's beginning: after a typing error, fewer could match another session. */
const MIN_LENGTH = 4;
/** Maximum ids in a hint. */
const MAX_LISTED = 5;

/**
 * Finds a conversation by its id, or by the beginning of its id.
 * @throws TeamError INVALID_INPUT if several conversations match; AGENT_NOT_FOUND if none matches
 */
export function findSession(
  { root }: Home,
  id: string,
): { readonly sessionId: string; readonly transcript: string } {
  const ids = listDir(sessionsDirectory(root)).flatMap((name) =>
    name.endsWith(".jsonl") ? [name.slice(0, -".jsonl".length)] : [],
  );
  const isUsable = isSessionId(id) && id.length >= MIN_LENGTH;
  const found = ids.includes(id) ? [id] : isUsable ? ids.filter((one) => one.startsWith(id)) : [];
  const [sessionId] = found;
  if (sessionId === undefined || !isSessionId(sessionId)) {
    throw new TeamError("AGENT_NOT_FOUND", `There is no conversation ${JSON.stringify(id)}.`, {
      hint: `Give at least ${MIN_LENGTH} characters of the id. List the conversations of ended teams: teams ls --ended --json`,
    });
  }
  if (found.length > 1) {
    const listed = found.slice(0, MAX_LISTED).join(", ");
    throw new TeamError("INVALID_INPUT", `${found.length} conversations begin with ${id}.`, {
      hint: `Give more characters of the id: ${listed}${found.length > MAX_LISTED ? ", …" : ""}`,
    });
  }
  return { sessionId, transcript: transcriptPath(root, sessionId) };
}
