import type { TeamConfig } from "../schema/config.ts";
import { badEntriesNotices } from "../team/inbox/original-copies.ts";
import { unfinishedEndings } from "../team/members/ending-claims.ts";
import type { TeamRef } from "../team/ref.ts";

/** Returns the problems of a team that still need a person or another attempt, one sentence each. */
export function problemsOf(ref: TeamRef, config: TeamConfig): readonly string[] {
  const ofEndings = unfinishedEndings(config).flatMap(({ name, problem }) =>
    problem === undefined
      ? []
      : [
          `The end of ${name} is not fully processed: ${problem.replace(/\.$/, "")}. A running lead and the next teams status try again.`,
        ],
  );
  const names = config.members.map(({ name }) => name);
  return [...ofEndings, ...badEntriesNotices(ref, names).map(({ text, remedy }) => `${text} ${remedy}`)];
}
