import { TeamError } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { moveAfterRename } from "../operations/follow-team.ts";
import type { Caller } from "../runtime/caller.ts";
import { filesContext, operationContext, refuseForeignTeam } from "../runtime/operation-context.ts";
import { type OpenTeam, openTeam as selectTeam } from "../runtime/select-team.ts";
import { ignoredLines, type LoadedSettings, loadSettings } from "../settings/settings.ts";
import { readTeam } from "../team/config/config.ts";
import type { Home, TeamRef } from "../team/ref.ts";
import { callerOf, type Host } from "./host.ts";

/** Access of a library handle to its team. Each call reads the files again, as each command does. */
export class TeamAccess {
  readonly host: Host;
  readonly home: Home;
  /** Follows the team if it is renamed. */
  readonly ref: TeamRef;
  /** The acting member. */
  readonly actor: string;
  /** Whether a team of another program may be changed. */
  readonly #force: boolean;

  constructor(host: Host, { home, ref, actor }: OpenTeam, force: boolean) {
    this.host = host;
    this.home = home;
    this.ref = ref;
    this.actor = actor;
    this.#force = force;
  }

  /** @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE */
  open(): OpenTeam {
    const { home, ref, actor } = this;
    try {
      return { home, ref, actor, config: readTeam(ref) };
    } catch (error) {
      const isGone = error instanceof TeamError && error.code === "TEAM_NOT_FOUND";
      if (!isGone || !moveAfterRename(ref)) throw error;
      return { home, ref, actor, config: readTeam(ref) };
    }
  }

  /** Opens the team for a change of the whole team. @throws TeamError PERMISSION_DENIED if another program has created it */
  openToChange(): OpenTeam {
    const open = this.open();
    refuseForeignTeam(open, { named: true, force: this.#force });
    return open;
  }

  /** Returns access to the team as another member. @throws TeamError NOT_LEAD if an agent would act as another member, AGENT_NOT_FOUND */
  as(member: string): TeamAccess {
    const open = selectTeam(this.host.env, { team: this.ref.team, as: member });
    return new TeamAccess(this.host, open, this.#force);
  }

  caller(signal: AbortSignal): Caller {
    return callerOf(this.host, signal);
  }

  /** Loads the settings of the host's directory, and reports which of them are ignored. */
  settings(): LoadedSettings {
    const settings = loadSettings(this.home.root, this.host.cwd);
    for (const text of ignoredLines(settings)) this.host.note(text);
    return settings;
  }

  /** Returns the context of an operation on files. */
  filesContext(signal: AbortSignal, open = this.open()): OperationContext {
    return filesContext(this.caller(signal), open);
  }

  /** Returns the context of an operation that also needs panes and processes. */
  fullContext(signal: AbortSignal, open = this.open(), settings?: LoadedSettings): Promise<OperationContext> {
    return operationContext(this.caller(signal), open, settings);
  }
}
