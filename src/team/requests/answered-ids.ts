import { systemCode, TeamError } from "../../errors.ts";
import { entryOf, readText } from "../../os/files/fs.ts";
import { appendRotating, rotatedPath } from "../../telemetry/event-log.ts";
import type { TeamRef } from "../ref.ts";

/** Bytes of one file (there are two): enough for thousands of answers. */
const MAX_BYTES = 256 * 1024;

/**
 * Records that a request was answered: its files are removed once the asker has the answer.
 * @returns false if the record cannot be written, which affects only the error of a later answer
 */
export function rememberAnswered({ paths }: TeamRef, id: string): boolean {
  try {
    appendRotating(paths.answered, `${JSON.stringify(id)}\n`, MAX_BYTES);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

/** Returns the error for an answer to a request that is not open: it was answered, or never existed. */
export function notOpenError(ref: TeamRef, id: string): TeamError {
  const { answered } = ref.paths;
  if (entryOf(ref.paths.request(id).answer) !== undefined) return alreadyAnswered(id);
  const texts = [answered, rotatedPath(answered)].map((path) => readText(path) ?? "");
  if (texts.some((text) => text.split("\n").includes(JSON.stringify(id)))) return alreadyAnswered(id);
  return requestNotFound(ref, id);
}

/** Returns the error for a request that was answered before. */
export function alreadyAnswered(id: string): TeamError {
  return new TeamError("ALREADY_ANSWERED", `${id} has already been answered; the first answer counts.`, {
    hint: "See the open requests: teams approvals",
  });
}

/** Returns the error for a request that does not exist. */
function requestNotFound(ref: TeamRef, id: string): TeamError {
  return new TeamError(
    "REQUEST_NOT_FOUND",
    `There is no open request ${JSON.stringify(id)} in ${ref.team}.`,
    {
      hint: "See the open requests: teams approvals",
    },
  );
}
