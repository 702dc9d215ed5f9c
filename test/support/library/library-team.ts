import { join } from "node:path";
import { TeamError } from "../../../src/errors.ts";
import type { CallerOptions } from "../../../src/library/options.ts";
import type { Team } from "../../../src/library/team.ts";
import { createTeam } from "../../../src/library/teams.ts";
import { movableRef, type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { TEAMS } from "../processes/built-program.ts";

/** The options of a program with a private root. */
export interface PrivateOptions extends CallerOptions {
  readonly cwd: string;
  readonly env: NonNullable<CallerOptions["env"]>;
}

/** Returns options with a private root and directory, and the built program. */
export function privateOptions(): PrivateOptions {
  const home = temporaryDirectory();
  const { TMUX: _server, TMUX_PANE: _pane, ...own } = process.env;
  const env = { ...own, HOME: home, TEAMS_HOME: join(home, "root"), XDG_RUNTIME_DIR: home };
  return { cwd: home, env, program: TEAMS };
}

/** Creates a team in a private root. */
export async function libraryTeam(): Promise<{
  readonly team: Team;
  readonly options: PrivateOptions;
  readonly ref: TeamRef;
}> {
  const options = privateOptions();
  const team = await createTeam("crew", options);
  return { team, options, ref: movableRef(teamRef(teamsHome(options.env), "crew")) };
}

/** Returns the code of a call's TeamError, or the error itself if it is another one. */
export function codeOf(work: Promise<unknown>): Promise<unknown> {
  return errorOf(work).then((error) => (error instanceof TeamError ? error.code : error));
}

/** Returns the error of a call that must fail. */
export function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no error",
    (error: unknown) => error,
  );
}
