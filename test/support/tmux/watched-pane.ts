import { ownIdentity, startTimeOf } from "../../../src/os/process/identity.ts";
import type { PlaceRecord } from "../../../src/schema/status.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writePlace } from "../../../src/team/records/read-records.ts";
import { prepareRun } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamsHome } from "../../../src/team/ref.ts";
import { eventually } from "../timing/eventually.ts";
import { placeIn } from "./key-reader.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** A member of the team crew whose pane runs a shell that executes only the test's commands. */
export interface Watched {
  readonly ref: TeamRef;
  readonly place: PlaceRecord;
  readonly pane: string;
  /** Runs a command in that shell; the typed text is not visible. */
  does(words: string): void;
}

export async function watchedPane(t: PrivateTmux): Promise<Watched> {
  t.session();
  return watchedMember(t, await watchedTeam(t), "ada");
}

export function watchedTeam(t: PrivateTmux): Promise<TeamRef> {
  return createTeamFiles(teamsHome(t.env), {
    name: "crew",
    leadSessionId: ownIdentity().procStart,
    leadCwd: t.home,
    now: 1_000,
  });
}

/** Adds another such member, in a window of the session `work`. */
export async function watchedMember(t: PrivateTmux, ref: TeamRef, name: string): Promise<Watched> {
  await addMembers(ref, [{ name, cwd: t.home }]);
  await prepareRun(ref, [name]);
  const program = 'stty -echo; echo ready; while read -r line; do eval "$line"; done';
  const words = ["-P", "-F", "#{pane_id}", "--", "/bin/sh", "-c", program];
  const pane = t.tmux("new-window", "-d", "-t", "=work:", ...words);
  await eventually("its shell", () => t.tmux("capture-pane", "-p", "-t", pane).includes("ready"));
  const { panePid = 0, ...rest } = placeIn(t, pane);
  const place = { ...rest, panePid, paneProcStart: startTimeOf(panePid) ?? "" };
  writePlace(ref, name, place);
  return { ref, place, pane, does: (line) => void t.tmux("send-keys", "-t", pane, "-l", `${line}\r`) };
}
