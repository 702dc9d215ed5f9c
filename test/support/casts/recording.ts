import { join } from "node:path";
import { createCast } from "../../../src/casts/cast-files.ts";
import type { Recording } from "../../../src/casts/recording.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { testTeam } from "../team/test-team.ts";

/** Returns a recording that has not begun, and its team. */
export async function recordingOf(more: Partial<Recording> = {}): Promise<{
  readonly ref: Awaited<ReturnType<typeof testTeam>>;
  readonly recording: Recording;
}> {
  const ref = await testTeam(["dev"]);
  const directory = join(temporaryDirectory(), "casts");
  const path = createCast(directory, "dev", { version: 2, width: 80, height: 24, timestamp: 1_000 });
  const own = {
    path,
    startedAt: Date.now(),
    pane: "%1",
    socket: "/nowhere",
    tty: "/nowhere/tty",
    size: "80x24",
  };
  const { journal } = ref.paths;
  return {
    ref,
    recording: { ...own, agent: "dev", journal, status: ref.paths.agent("dev").status, ...more },
  };
}
