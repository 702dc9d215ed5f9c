import { renameSync } from "node:fs";
import { expect, test } from "vitest";
import { paneRecorder } from "../../../../src/operations/spawn/start-steps.ts";
import { readMetadata } from "../../../../src/schema/member-metadata.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { withStartClaim } from "../../../../src/team/members/start-claims.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Returns a team whose members are being started, and the recorder of their panes. */
async function starting(...names: string[]) {
  const ref = await testTeam();
  const joining = withStartClaim(names.map((name) => ({ name, cwd: "/", metadata: {} })));
  return { ref, recorder: paneRecorder(contextOf(ref), await addMembers(ref, joining)) };
}

const pane = (paneId: string): PlaceRecord => ({ instance: "i", backend: "tmux", paneId, spawnedAt: 1 });
const inLead: PlaceRecord = { instance: "i", backend: "in-process", spawnedAt: 1 };

/** Returns each teammate's pane in the config; `claimed` while its start is claimed. */
function recorded(ref: TeamRef): Record<string, string> {
  const members = readTeam(ref).members.slice(1);
  const shown = members.map((member): [string, string] => [
    member.name,
    readMetadata(member, "startClaim") === undefined ? member.tmuxPaneId : "claimed",
  ]);
  return Object.fromEntries(shown);
}

/** Makes the team's config unwritable until the returned function is called. */
function hideConfig({ paths }: TeamRef): () => void {
  renameSync(paths.config, `${paths.config}.hidden`);
  return () => renameSync(`${paths.config}.hidden`, paths.config);
}

test("paneRecorder › records each pane, and releases only the claims of placed members", async () => {
  const { ref, recorder } = await starting("ada", "ben", "cem");
  recorder.placed("ada", pane("%1"));
  recorder.placed("ben", inLead);
  await recorder.done();
  expect(recorded(ref)).toEqual({ ada: "%1", ben: "in-process", cem: "claimed" });
  recorder.placed("cem", pane("%3"));
  await recorder.done();
  expect(recorded(ref)).toEqual({ ada: "%1", ben: "in-process", cem: "%3" });
});

test("paneRecorder › records a later pane and the earlier one after a failed write", async () => {
  const { ref, recorder } = await starting("ada", "ben");
  const restore = hideConfig(ref);
  recorder.placed("ada", pane("%1"));
  await expect(recorder.done()).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  restore();
  recorder.placed("ben", pane("%2"));
  await recorder.done();
  expect(recorded(ref)).toEqual({ ada: "%1", ben: "%2" });
});

test("paneRecorder › tries a failed write again at the end", async () => {
  const { ref, recorder } = await starting("ada");
  const restore = hideConfig(ref);
  recorder.placed("ada", pane("%1"));
  await expect(recorder.done()).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  restore();
  await recorder.done();
  expect(recorded(ref)).toEqual({ ada: "%1" });
});
