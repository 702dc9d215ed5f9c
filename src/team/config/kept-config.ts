import { messageOf, TeamError } from "../../errors.ts";
import type { TeamConfig } from "../../schema/config.ts";
import type { KeptConfig, TeamRef } from "../ref.ts";
import { readLastConfig } from "./last-config.ts";

/**
 * Keeps the config that was read last, for an agent: a file that becomes empty or unreadable must not end it. Each read tries
 * the file again. Changes of the config still fail, so a kept config never gets into the file.
 * @param problem receives one error for each time that the file becomes unreadable
 */
export function keptConfig(problem: (error: unknown) => void): KeptConfig {
  let last: TeamConfig | undefined;
  let isReported = false;
  return {
    read(config) {
      last = config;
      isReported = false;
    },
    insteadOf(ref, error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") {
        // A later team of this name is a different team.
        last = undefined;
        throw error;
      }
      last ??= readLastConfig(ref);
      if (last === undefined) throw error;
      if (!isReported) problem(continues(ref, error));
      isReported = true;
      return last;
    },
  };
}

function continues({ team }: TeamRef, error: unknown): TeamError {
  const code = error instanceof TeamError ? error.code : "CORRUPT_FILE";
  return new TeamError(
    code,
    `${messageOf(error)} The agent continues with the last config that it read, and cannot change it. To repair it: teams doctor --fix`,
    { details: { team }, cause: error },
  );
}
