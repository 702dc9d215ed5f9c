import { messageOf, TeamError } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { BackgroundRecord, BackgroundTask } from "../../schema/status.ts";
import { writeRecord } from "../../team/records/write-records.ts";
import type { TeamRef } from "../../team/ref.ts";

interface Options {
  readonly ref: TeamRef;
  readonly name: string;
  readonly view: { error(text: string): void };
}

/**
 * Records an agent's background tasks for other processes. Never throws because of a failed write: each change writes the whole
 * record, so the next one makes up for it.
 */
export function recordBackground({ ref, name, view }: Options, tasks: readonly BackgroundTask[]): void {
  const record: BackgroundRecord = { process: ownIdentity(), tasks: [...tasks] };
  try {
    writeRecord(ref, ref.paths.agent(name).background, record);
  } catch (error) {
    // No process reads the record of a deleted team; the worker ends when its inbox reader finds the team gone.
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return;
    view.error(
      `the list of background tasks could not be written (${messageOf(error)}); the tasks continue, and the next change writes it again`,
    );
  }
}
