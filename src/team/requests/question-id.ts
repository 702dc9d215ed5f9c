import { questionRequestId } from "../../protocol/request-ids.ts";
import type { TeamRef } from "../ref.ts";
import { isRequested } from "./requests.ts";

/** Returns the id of an agent's next question. An id names a moment, and several questions can come at once. */
export function newQuestionId(ref: TeamRef, agent: string, at: number): string {
  let moment = at;
  while (isRequested(ref, questionRequestId(agent, moment))) moment += 1;
  return questionRequestId(agent, moment);
}
